/*
 * Preloaded into a JVM. Keeps one sampling signal in its handler until the test lets it go.
 *
 * The native method `Detained.work` computes until the directory `free` exists. The first signal
 * that interrupts it calls our AsyncGetCallTrace, which creates the directory `held` and also
 * waits for `free`. Other calls return no frame. (The thread is in native code, because the JVM
 * would wait for a thread in Java code.)
 */
#include "common.h"
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct trace {
  void *env;
  int frames;
  void *frame;
};

static atomic_int worker, held;

void Java_Detained_work(void *env, void *class) {
  (void)env, (void)class;
  atomic_store(&worker, gettid());
  while (access("free", F_OK) != 0) continue;
  atomic_store(&worker, 0);
}

void AsyncGetCallTrace(struct trace *trace, int depth, void *context) {
  (void)depth, (void)context;
  const struct timespec moment = {.tv_nsec = 1000000};
  trace->frames = 0;
  if (atomic_load(&worker) != gettid() || atomic_exchange(&held, 1)) return;
  mkdir("held", 0700);
  while (access("free", F_OK) != 0) nanosleep(&moment, NULL);
}
