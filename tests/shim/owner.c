/*
 * Preloaded into a JVM. Owns SIGPROF before the JVM starts, with a timer on the CPU time of the
 * process, as a profiler of native code does. At exit one line says how many of its own signals it
 * got, and how many foreign ones.
 */
#include "common.h"
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static atomic_long own, others;

static void on_signal(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  int is_own = info->si_code == SI_TIMER && info->si_value.sival_ptr == &own;
  atomic_fetch_add(is_own ? &own : &others, 1);
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF, .sigev_value.sival_ptr = &own};
  const struct itimerspec every = {.it_interval.tv_nsec = 10000000, .it_value.tv_nsec = 10000000};
  timer_t timer;
  sigaction(SIGPROF, &action, NULL);
  timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
  timer_settime(timer, 0, &every, NULL);
}

__attribute__((destructor)) static void end(void) {
  dprintf(2, "owner: %ld of its own signals, %ld of others\n", atomic_load(&own),
          atomic_load(&others));
}
