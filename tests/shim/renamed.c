/*
 * Preloaded into a JVM. A native thread that computes under the name "first name" until the
 * directory `rename` exists. Then it renames itself to "second name" and creates the directory
 * `renamed`.
 */
#include "common.h"
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void *live(void *argument) {
  sigset_t none;
  sigemptyset(&none);
  /* who begins this thread may block the signal of the samples */
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  pthread_setname_np(pthread_self(), "first name");
  while (access("rename", F_OK) != 0) continue;
  pthread_setname_np(pthread_self(), "second name");
  mkdir("renamed", 0700);
  while (1) getppid();
  return argument;
}

__attribute__((constructor)) static void load(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, live, NULL);
}
