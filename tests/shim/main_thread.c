/*
 * Preloaded into a JVM. The launcher runs Java's `main` on the main thread of the process instead
 * of a new one, as a program that embeds a JVM does.
 */
#include "common.h"
#include <pthread.h>

static pthread_t own;
static void *result;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
  BEHIND(pthread_create);
  Dl_info caller;
  int is_launcher = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
                    strstr(caller.dli_fname, "libjli");
  if (!is_launcher) return behind(thread, attributes, body, argument);
  *thread = own = pthread_self();
  result = body(argument);
  return 0;
}

int pthread_join(pthread_t thread, void **answer) {
  BEHIND(pthread_join);
  if (own == 0 || !pthread_equal(thread, own)) return behind(thread, answer);
  if (answer != NULL) *answer = result;
  return 0;
}
