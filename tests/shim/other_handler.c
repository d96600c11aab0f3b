/*
 * Preloaded into a JVM: another profiler. At each tick of the clock (4 ms of CPU time as a rule)
 * SIGURG interrupts the thread that runs, for 2 ms, above a buffer with what earlier calls have
 * left. At exit one line on stderr: "other handler: CALLS".
 */
#include "common.h"
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { EVERY = 1000000, FOR = 2000000, BUFFER = 1024 };

static atomic_ulong calls;

static long cpu_nanos(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void handle(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
  volatile char left[BUFFER];
  left[0] = 0;
  long end = cpu_nanos() + FOR;
  while (cpu_nanos() < end) left[0]++;
  atomic_fetch_add(&calls, 1);
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
  struct itimerspec period = {{0, EVERY}, {0, EVERY}};
  timer_t timer;
  if (sigaction(SIGURG, &action, NULL) != 0 ||
      timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0 ||
      timer_settime(timer, 0, &period, NULL) != 0) {
    perror("other handler");
  }
}

__attribute__((destructor)) static void tell(void) {
  fprintf(stderr, "other handler: %lu\n", calls);
}
