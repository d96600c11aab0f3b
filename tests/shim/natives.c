/*
 * Preloaded into a JVM: two native threads around a look of libctxagent.so for the threads of the process that fails.
 *
 * "early native" is there from the start. At the first look that fails it uses some CPU time, then it makes the folder `early-done`.
 * "late native" begins at that look. At the next one that does not fail it does the same and makes `late-done`.
 * Both do without a file descriptor. At the end one line tells how many looks failed.
 */
#include "common.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#define CPU_MILLIS 400

struct native {
  const char *name, *done;
  sem_t go;
};

static struct native early = {.name = "early native", .done = "early-done"}, late = {.name = "late native", .done = "late-done"};
static atomic_long failed;
static atomic_int again;

static long cpu_millis(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void *live(void *argument) {
  struct native *native = argument;
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL); /* who begins this thread may block the signal of the samples */
  pthread_setname_np(pthread_self(), native->name);
  while (sem_wait(&native->go) != 0) continue;
  while (cpu_millis() < CPU_MILLIS) continue;
  mkdir(native->done, 0700);
  return NULL;
}

static void begin(struct native *native) {
  pthread_t thread;
  sem_init(&native->go, 0, 0);
  pthread_create(&thread, NULL, live, native);
}

__attribute__((constructor)) static void load(void) { begin(&early); }

__attribute__((destructor)) static void end(void) { dprintf(2, "looks: %ld failed\n", atomic_load(&failed)); }

DIR *opendir(const char *name) {
  BEHIND(opendir);
  DIR *found = behind(name);
  int error = errno;
  if (strcmp(name, "/proc/self/task") == 0 && is_agent(__builtin_return_address(0))) {
    if (!found && atomic_fetch_add(&failed, 1) == 0) {
      begin(&late);
      sem_post(&early.go);
    }
    if (found && atomic_load(&failed) && atomic_fetch_add(&again, 1) == 0) sem_post(&late.go);
  }
  errno = error;
  return found;
}
