/*
 * Preloaded into a JVM: an AsyncGetCallTrace that finds no frame, and the native method `Detained.work`, which computes until the folder `free` is there. The
 * first sample that meets it there makes the folder `held` and stays in the signal handler as long. (In Java code the JVM would wait for the thread.)
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
