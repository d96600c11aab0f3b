/*
 * Preloaded into a JVM. Ends the process, with a line that names the function, if a signal handler
 * of the agent calls a function that it must not call.
 *
 * sigaction() wraps handlers of SIGPROF and SIGVTALRM in `frame`, which sets `inside` for the
 * thread. Each forbidden function below tests `inside` first. HANDLER_GUARD_PLANT=malloc|mutex
 * makes such a call on purpose, to test the guard. At exit one line says how many signals were
 * watched.
 */
#include "common.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void (*action_t)(int, siginfo_t *, void *);

static __thread int inside __attribute__((tls_model("initial-exec")));
static _Atomic(action_t) handlers[65];
static atomic_long watched;
static const char *planted;

static void forbid(const char *name) {
  if (__builtin_expect(inside == 0, 1)) return;
  inside = 0;
  static const char text[] = "handler_guard: the signal handler called ";
  ssize_t ignored = write(2, text, sizeof text - 1);
  ignored = write(2, name, strlen(name));
  ignored = write(2, "\n", 1);
  (void)ignored;
  _exit(99);
}

#define GUARD(result, name, parameters, arguments) \
  result name parameters { \
    forbid(#name); \
    BEHIND(name); \
    return behind arguments; \
  }

/* glibc's own names: dlsym itself may allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) { forbid("malloc"); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { forbid("calloc"); return __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { forbid("realloc"); return __libc_realloc(old, size); }
void free(void *old) { forbid("free"); __libc_free(old); }
GUARD(int, posix_memalign, (void **place, size_t alignment, size_t size), (place, alignment, size))
GUARD(void *, mmap, (void *at, size_t size, int access, int flags, int fd, off_t offset),
      (at, size, access, flags, fd, offset))
GUARD(int, munmap, (void *at, size_t size), (at, size))
GUARD(int, pthread_mutex_lock, (pthread_mutex_t *lock), (lock))
GUARD(int, pthread_mutex_trylock, (pthread_mutex_t *lock), (lock))
GUARD(int, pthread_rwlock_rdlock, (pthread_rwlock_t *lock), (lock))
GUARD(int, pthread_rwlock_wrlock, (pthread_rwlock_t *lock), (lock))
GUARD(int, pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *lock), (condition, lock))
GUARD(int, pthread_cond_signal, (pthread_cond_t *condition), (condition))
GUARD(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
GUARD(int, sem_wait, (sem_t *semaphore), (semaphore))
GUARD(int, sem_post, (sem_t *semaphore), (semaphore))

static void frame(int signal, siginfo_t *info, void *context) {
  inside++;
  atomic_fetch_add_explicit(&watched, 1, memory_order_relaxed);
  if (planted != NULL) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (strcmp(planted, "malloc") == 0) {
      void *volatile block = malloc(1); /* volatile: or the compiler leaves both out */
      free(block);
    }
    if (strcmp(planted, "mutex") == 0) pthread_mutex_lock(&lock);
  }
  atomic_load(&handlers[signal])(signal, info, context);
  inside--;
}

int sigaction(int signal, const struct sigaction *wanted, struct sigaction *earlier) {
  BEHIND(sigaction);
  struct sigaction wrapped, before;
  const struct sigaction *action = wanted;
  action_t last = signal > 0 && signal < 65 ? atomic_load(&handlers[signal]) : NULL;
  if (wanted != NULL && (signal == SIGPROF || signal == SIGVTALRM) &&
      (wanted->sa_flags & SA_SIGINFO)) {
    wrapped = *wanted;
    atomic_store(&handlers[signal], wanted->sa_sigaction);
    wrapped.sa_sigaction = frame;
    action = &wrapped;
  }
  int result = behind(signal, action, &before);
  if (earlier != NULL) {
    *earlier = before;
    if (before.sa_sigaction == frame) earlier->sa_sigaction = last;
  }
  return result;
}

__attribute__((constructor)) static void begin(void) { planted = getenv("HANDLER_GUARD_PLANT"); }

__attribute__((destructor)) static void end(void) {
  dprintf(2, "handler_guard: %ld signals watched\n", atomic_load(&watched));
}
