/* What signals from a timer cost a thread that computes, before any profiler does anything in them:
 * phases with the timer and without by turns, median of the ratios. The floor under every engine
 * that samples off the kernel's tick.
 *   gcc -O2 -o target/timer-floor scripts/timer-floor.c
 *   target/timer-floor once|periodic|cpu MICROSECONDS
 * once: monotonic clock, armed again in the handler; periodic: the same clock; cpu: the thread's
 * CPU clock, on the tick. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 40 };
static const double PHASE_SECONDS = 0.2;

static int timer, again;
static long period_nanos;
static volatile long signals;
static volatile double sink;

static void arm(long first, long period) {
  struct itimerspec spec = {{0, period}, {0, first}};
  syscall(SYS_timer_settime, timer, 0, &spec, NULL);
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
  signals++;
  if (again) arm(period_nanos, 0);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rounds of work per second, over one phase. */
static double work(void) {
  double begin = now(), x = sink;
  long rounds = 0;
  do {
    for (int i = 0; i < 20000; i++) x = x * 0.999999 + 1;
    rounds++;
  } while (now() < begin + PHASE_SECONDS);
  sink = x;
  return (double)rounds / (now() - begin);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **words) {
  if (count != 3 || (period_nanos = atol(words[2]) * 1000) <= 0) {
    fprintf(stderr, "usage: timer-floor once|periodic|cpu MICROSECONDS\n");
    return 2;
  }
  again = strcmp(words[1], "once") == 0;
  int tid = (int)syscall(SYS_gettid);
  int clock = strcmp(words[1], "cpu") == 0 ? (int)((~(unsigned)tid << 3) | 6) : CLOCK_MONOTONIC;
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
  event._sigev_un._tid = tid;
  if (syscall(SYS_timer_create, clock, &event, &timer) != 0) return perror("timer_create"), 1;
  double ratios[PAIRS];
  work();
  for (int i = 0; i < PAIRS; i++) {
    double without = work();
    arm(period_nanos, again ? 0 : period_nanos);
    ratios[i] = work() / without;
    arm(0, 0);
  }
  qsort(ratios, PAIRS, sizeof ratios[0], compare);
  printf("%s %s us: throughput %.4f (quartiles %.4f to %.4f), %.0f signals a second\n", words[1],
         words[2], (ratios[PAIRS / 2 - 1] + ratios[PAIRS / 2]) / 2, ratios[PAIRS / 4],
         ratios[3 * PAIRS / 4], (double)signals / (PAIRS * PHASE_SECONDS));
}
