/*
 * Preloaded into a JVM. Measures the CPU time of each run of the SIGPROF handler, whichever
 * profiler installed it. At exit one line on stderr: "handler: CALLS calls, MEAN us mean, P50 us
 * p50, P99 us p99, TOTAL ms". scripts/bench-loads.sh uses it; no test does.
 */
#include "common.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { FINE = 16, BUCKETS = 64 * FINE };

static struct sigaction installed; /* what its owner believes to be the action of SIGPROF */
static atomic_ullong calls, nanos, counts[BUCKETS];

static uint64_t now(void) {
  struct timespec t;
  /* CPU time: a handler that is preempted does not take longer */
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int bucket(uint64_t n) {
  if (n < FINE) n = FINE;
  int doubling = 63 - __builtin_clzll(n);
  return doubling * FINE + (int)(n >> (doubling - 4)) % FINE;
}

static void timed(int signal, siginfo_t *info, void *context) {
  uint64_t begin = now();
  installed.sa_sigaction(signal, info, context);
  uint64_t took = now() - begin;
  atomic_fetch_add(&calls, 1);
  atomic_fetch_add(&nanos, took);
  atomic_fetch_add(&counts[bucket(took)], 1);
}

int sigaction(int signal, const struct sigaction *wanted, struct sigaction *old) {
  BEHIND(sigaction);
  if (signal != SIGPROF) return behind(signal, wanted, old);
  struct sigaction before = installed;
  if (wanted != NULL) {
    struct sigaction ours = *wanted;
    installed = *wanted;
    int is_handler = (wanted->sa_flags & SA_SIGINFO) && wanted->sa_handler != SIG_DFL &&
                     wanted->sa_handler != SIG_IGN;
    if (is_handler) ours.sa_sigaction = timed;
    int result = behind(signal, &ours, NULL);
    if (result != 0) return result;
  }
  if (old != NULL) *old = before;
  return 0;
}

static double quantile(double share) {
  double left = (double)calls * share;
  for (int i = 0; i < BUCKETS; i++) {
    left -= (double)counts[i];
    if (left < 0) return (double)(1ull << (i / FINE)) * (1 + (i % FINE + 0.5) / FINE) / 1e3;
  }
  return 0;
}

__attribute__((destructor)) static void tell(void) {
  if (calls == 0) return;
  fprintf(stderr, "handler: %llu calls, %.2f us mean, %.2f us p50, %.2f us p99, %.1f ms\n",
          (unsigned long long)calls, (double)nanos / (double)calls / 1e3, quantile(0.5),
          quantile(0.99), (double)nanos / 1e6);
}
