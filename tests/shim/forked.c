/*
 * Preloaded into a JVM. The native method `Forked.child` forks without exec. The child uses CPU
 * time, looks for anything that it should not have inherited (see `child`), and reports that by
 * its exit code.
 */
#include "common.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long cpu_millis(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* Whether there is a timer. Without stdio and malloc: other threads may have held their locks at
 * the fork. */
static int has_timers(void) {
  char text[64];
  int file = open("/proc/self/timers", O_RDONLY);
  ssize_t length = read(file, text, sizeof text);
  close(file);
  return length != 0;
}

/* What is odd in the child: 1 a timer, 2 a signal on its way, 4 the samples' signal blocked. */
static int child(long millis) {
  sigset_t pending, blocked;
  int odd = has_timers() ? 1 : 0;
  long end = cpu_millis() + millis;
  while (cpu_millis() < end) continue;
  sigpending(&pending);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (sigismember(&pending, SIGPROF) || sigismember(&pending, SIGVTALRM)) odd |= 2;
  if (sigismember(&blocked, SIGPROF) || sigismember(&blocked, SIGVTALRM)) odd |= 4;
  return odd;
}

/* The status of a child that used so much CPU time, as wait() tells it; -1 if there was none. */
int Java_Forked_child(void *env, void *class, long millis) {
  (void)env, (void)class;
  pid_t pid = fork();
  if (pid == 0) _exit(child(millis));
  int status = -1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}
