/*
 * Preloaded into a JVM: threads that libctxagent.so wants to make are not made (EAGAIN), as where a container's limit of processes is reached. Nobody else's.
 *
 * THREAD_NTH=n       the n-th one (from 1)
 * THREAD_LAST=m      threads n to m instead of the n-th alone
 * At the end one line tells how many were asked for and how many not made.
 */
#include "common.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long asked, denied;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
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

__attribute__((destructor)) static void end(void) { dprintf(2, "threads: %ld asked for, %ld denied\n", atomic_load(&asked), atomic_load(&denied)); }
