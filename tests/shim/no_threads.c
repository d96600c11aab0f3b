/*
 * Preloaded into a JVM. pthread_create() fails with EAGAIN for libctxagent.so, as at a container's
 * limit of processes; other callers are not affected.
 *
 * THREAD_NTH=n       the n-th thread (from 1)
 * THREAD_LAST=m      threads n to m, not only the n-th
 * At exit one line says how many threads were asked for and how many were denied.
 */
#include "common.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long asked, denied;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
  BEHIND(pthread_create);
  if (is_agent(__builtin_return_address(0))) {
    const char *nth = getenv("THREAD_NTH"), *last = getenv("THREAD_LAST");
    long n = atomic_fetch_add(&asked, 1) + 1;
    if (nth && n >= atol(nth) && n <= atol(last ? last : nth)) {
      atomic_fetch_add(&denied, 1);
      return EAGAIN;
    }
  }
  return behind(thread, attributes, body, argument);
}

__attribute__((destructor)) static void end(void) {
  dprintf(2, "threads: %ld asked for, %ld denied\n", atomic_load(&asked), atomic_load(&denied));
}
