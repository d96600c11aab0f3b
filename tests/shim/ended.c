/*
 * Preloaded into a JVM. Delays a thread of libctxagent.so until the command that needs it has
 * timed out, and then keeps the process alive until all timers are deleted.
 *
 * HELD=n: while a file `hold` exists, the n-th thread that the agent creates (from 1) has to wait.
 * It creates the file `held`, and starts once the agent has logged that it gave up waiting for its
 * command. The process exits after the agent has made at least one more timer and deleted all; one
 * line says how many.
 */
#include "common.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char GIVEN_UP[] = "a command is still at work";

static atomic_long made, deleted, made_before;
static atomic_int threads, given_up;
static int held;
static long (*next_syscall)(long, ...);

static void wait_a_moment(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  nanosleep(&moment, NULL);
}

__attribute__((constructor)) static void begin(void) {
  next_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  held = atoi(getenv("HELD"));
}

__attribute__((destructor)) static void end(void) {
  while (atomic_load(&made) == atomic_load(&made_before) ||
         atomic_load(&made) != atomic_load(&deleted))
    wait_a_moment();
  dprintf(2, "timers: %ld made, %ld deleted\n", atomic_load(&made), atomic_load(&deleted));
}

/* Also called in signal handlers of the agent. */
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
  va_end(rest);
  int makes = number == SYS_timer_create, deletes = number == SYS_timer_delete;
  if ((!makes && !deletes) || !is_agent(__builtin_return_address(0)))
    return next_syscall(number, a, b, c, d, e, f);
  if (makes) atomic_fetch_add(&made, 1);
  long result = next_syscall(number, a, b, c, d, e, f);
  if (makes && result != 0) atomic_fetch_sub(&made, 1);
  if (deletes) atomic_fetch_add(&deleted, 1);
  return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
  BEHIND(pthread_create);
  if (is_agent(__builtin_return_address(0)) && access("hold", F_OK) == 0 &&
      atomic_fetch_add(&threads, 1) + 1 == held) {
    atomic_store(&made_before, atomic_load(&made));
    close(open("held", O_CREAT | O_WRONLY, 0600));
    while (!atomic_load(&given_up)) wait_a_moment();
  }
  return behind(thread, attributes, body, argument);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  BEHIND(write);
  ssize_t written = behind(fd, bytes, count);
  if (is_agent(__builtin_return_address(0)) && memmem(bytes, count, GIVEN_UP, strlen(GIVEN_UP)))
    atomic_store(&given_up, 1);
  return written;
}
