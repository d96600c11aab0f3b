/*
 * Preloaded into a JVM. Two native threads, one older and one younger than a scan of
 * /proc/self/task by libctxagent.so that fails (the test makes the first scans fail).
 *
 * "early native" exists from the start. At the first failed scan it uses CPU time, then creates
 * the directory `early-done`. "late native" is created at that scan. It waits until the next
 * successful scan is over, which is when another scan begins; then it does the same and creates
 * `late-done`. Neither uses a file descriptor. At exit one line says how many scans failed,
 * another how many timers "late native" had before it used CPU time.
 */
#include "common.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CPU_MILLIS 400

struct native {
  const char *name, *done;
  sem_t go;
  atomic_int tid;
};

static struct native early = {.name = "early native", .done = "early-done"},
                     late = {.name = "late native", .done = "late-done"};
static atomic_long failed;
static atomic_int succeeded, timers;

static long cpu_millis(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void *live(void *argument) {
  struct native *native = argument;
  sigset_t none;
  sigemptyset(&none);
  /* who begins this thread may block the signal of the samples */
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  pthread_setname_np(pthread_self(), native->name);
  atomic_store(&native->tid, gettid());
  while (sem_wait(&native->go) != 0) continue;
  while (cpu_millis() < CPU_MILLIS) continue;
  mkdir(native->done, 0700);
  return NULL;
}

/* How many timers of the process send their signal to this thread. */
static int timers_of(struct native *native) {
  static char text[1 << 16];
  size_t length = 0;
  ssize_t more = 1;
  int file = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
  while (file >= 0 && more > 0) {
    more = read(file, text + length, sizeof text - 1 - length);
    if (more > 0) length += (size_t)more;
  }
  if (file >= 0) close(file);
  char line[32];
  int count = 0;
  while (atomic_load(&native->tid) == 0) sched_yield();
  snprintf(line, sizeof line, "/tid.%d\n", atomic_load(&native->tid));
  for (char *at = text; (at = strstr(at, line)) != NULL; at++) count++;
  return count;
}

static void begin(struct native *native) {
  pthread_t thread;
  sem_init(&native->go, 0, 0);
  pthread_create(&thread, NULL, live, native);
}

__attribute__((constructor)) static void load(void) { begin(&early); }

__attribute__((destructor)) static void end(void) {
  dprintf(2, "looks: %ld failed\nlate native: %d timers\n", atomic_load(&failed),
          atomic_load(&timers));
}

DIR *opendir(const char *name) {
  BEHIND(opendir);
  DIR *found = behind(name);
  int error = errno;
  if (strcmp(name, "/proc/self/task") == 0 && is_agent(__builtin_return_address(0))) {
    if (!found && atomic_fetch_add(&failed, 1) == 0) {
      begin(&late);
      sem_post(&early.go);
    }
    if (found && atomic_load(&failed) && atomic_fetch_add(&succeeded, 1) == 1) {
      atomic_store(&timers, timers_of(&late));
      sem_post(&late.go);
    }
  }
  errno = error;
  return found;
}
