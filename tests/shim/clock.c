/*
 * Preloaded into a JVM. Each time libctxagent.so reads the wall clock, it gets a time that is
 * wrong by an hour, alternately early and late. The monotonic clocks stay right. At exit one line
 * says how often it read the clock.
 */
#include "common.h"
#include <stdatomic.h>
#include <time.h>

static atomic_long looks;

int clock_gettime(clockid_t clock, struct timespec *time) {
  BEHIND(clock_gettime);
  int result = behind(clock, time);
  if (result != 0 || clock != CLOCK_REALTIME || !is_agent(__builtin_return_address(0)))
    return result;
  time->tv_sec += atomic_fetch_add(&looks, 1) % 2 ? 3600 : -3600;
  return result;
}

__attribute__((destructor)) static void end(void) {
  dprintf(2, "clock: %ld looks at the wall clock\n", atomic_load(&looks));
}
