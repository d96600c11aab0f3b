/*
 * Preloaded into a JVM: the wall clock that libctxagent.so sees jumps with each look at it, by an hour there and back; the monotonic clocks are
 * left alone. At the end one line tells how often it looked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static atomic_long looks;

int clock_gettime(clockid_t clock, struct timespec *time) {
  static __typeof__(&clock_gettime) behind;
  if (behind == NULL) behind = (__typeof__(&clock_gettime))dlsym(RTLD_NEXT, "clock_gettime");
  int result = behind(clock, time);
  Dl_info info;
  if (result != 0 || clock != CLOCK_REALTIME) return result;
  if (!dladdr(__builtin_return_address(0), &info) || !info.dli_fname || !strstr(info.dli_fname, "libctxagent")) return result;
  time->tv_sec += atomic_fetch_add(&looks, 1) % 2 ? 3600 : -3600;
  return result;
}

__attribute__((destructor)) static void end(void) { dprintf(2, "clock: %ld looks at the wall clock\n", atomic_load(&looks)); }
