/*
 * Preloaded into a JVM. Makes system calls of libctxagent.so fail; other callers are not affected.
 *
 * FAULT_NTH=n        the n-th call fails (from 1); without it none does
 * FAULT_LAST=m       calls n to m fail, not only the n-th
 * FAULT_KIND=name    how: ENOSPC EIO EDQUOT EINTR EROFS EACCES ENOMEM is the error; "short" writes
 *                    half of the bytes; "hang" blocks until the file FAULT_UNTIL exists, then
 *                    makes the call; without FAULT_UNTIL for ever
 * FAULT_UNTIL=path   see "hang"
 * FAULT_WRITES=1     count only calls that write
 * FAULT_CALL=name    count only calls of this function; "close" counts only if it is named here
 * FAULT_FILE=text    count only calls on an open file whose path contains this text
 * FAULT_SINCE=path   count nothing before this file exists
 * FAULT_PATH=text    opening a path that contains this text always fails, whatever its number
 * At exit one line says how many calls were counted and how many failed.
 */
#include "common.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls, failed;
static long first, last;
static int error_number, is_short, is_hang, only_writes;
static const char *closed_path, *only_call, *only_file, *since, *until;

static const struct { const char *name; int number; } KINDS[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EDQUOT", EDQUOT}, {"EINTR", EINTR},
    {"EROFS", EROFS},   {"EACCES", EACCES}, {"ENOMEM", ENOMEM}};

__attribute__((constructor)) static void begin(void) {
  const char *nth = getenv("FAULT_NTH"), *to = getenv("FAULT_LAST"), *kind = getenv("FAULT_KIND");
  first = nth ? atol(nth) : 0;
  last = to ? atol(to) : first;
  only_writes = getenv("FAULT_WRITES") != NULL;
  only_call = getenv("FAULT_CALL");
  closed_path = getenv("FAULT_PATH");
  only_file = getenv("FAULT_FILE");
  since = getenv("FAULT_SINCE");
  until = getenv("FAULT_UNTIL");
  error_number = EIO;
  for (size_t i = 0; kind && i < sizeof KINDS / sizeof *KINDS; i++)
    if (strcmp(kind, KINDS[i].name) == 0) error_number = KINDS[i].number;
  is_short = kind && strcmp(kind, "short") == 0;
  is_hang = kind && strcmp(kind, "hang") == 0;
}

__attribute__((destructor)) static void end(void) {
  dprintf(2, "faults: %ld calls, %ld failed\n", atomic_load(&calls), atomic_load(&failed));
}

/* Whether a call on `fd` (-1 = on none) counts, as far as files are concerned. */
static int is_on_file(int fd) {
  if (since && access(since, F_OK) != 0) return 0;
  if (!only_file) return 1;
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return strstr(path, only_file) != NULL;
}

/* A call that hangs goes on, if ever, as one that does not fail. */
static int hang(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  while (!until || access(until, F_OK) != 0) nanosleep(&moment, NULL);
  return 0;
}

/* Whether this call of `name` on `fd` (-1 = none) is to fail. `caller`: a place in who called. */
static int fails(const char *name, void *caller, int writes, int fd) {
  if (only_call ? strcmp(name, only_call) != 0 : strcmp(name, "close") == 0) return 0;
  if ((only_writes && !writes) || !is_agent(caller) || !is_on_file(fd)) return 0;
  long n = atomic_fetch_add(&calls, 1) + 1;
  if (first == 0 || n < first || n > last) return 0;
  atomic_fetch_add(&failed, 1);
  if (is_hang) return hang();
  errno = error_number;
  return 1;
}

#define FAULTY_ON(file, result, name, parameters, arguments, writes, bad) \
  result name parameters { \
    BEHIND(name); \
    return fails(#name, __builtin_return_address(0), writes, file) ? bad : behind arguments; \
  }

#define FAULTY(result, name, parameters, arguments, writes, bad) \
  FAULTY_ON(-1, result, name, parameters, arguments, writes, bad)

/* Words to the user (stdout, stderr) always get through. */
#define FAULTY_WRITE(name, parameters, whole, half) \
  ssize_t name parameters { \
    BEHIND(name); \
    if (fd <= 2 || !fails(#name, __builtin_return_address(0), 1, fd)) return behind whole; \
    return is_short ? behind half : -1; \
  }

int open64(const char *path, int flags, ...) {
  BEHIND(open64);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  void *caller = __builtin_return_address(0);
  if (closed_path && strstr(path, closed_path) && is_agent(caller)) {
    atomic_fetch_add(&failed, 1);
    errno = EACCES;
    return -1;
  }
  int writes = (flags & O_ACCMODE) != O_RDONLY;
  return fails("open64", caller, writes, -1) ? -1 : behind(path, flags, mode);
}

FAULTY_WRITE(write, (int fd, const void *bytes, size_t count), (fd, bytes, count),
             (fd, bytes, (count + 1) / 2))
FAULTY_WRITE(pwrite64, (int fd, const void *bytes, size_t count, off64_t at),
             (fd, bytes, count, at), (fd, bytes, (count + 1) / 2, at))
FAULTY_ON(fd, ssize_t, pread64, (int fd, void *bytes, size_t count, off64_t at),
          (fd, bytes, count, at), 0, -1)
FAULTY_ON(fd, ssize_t, read, (int fd, void *bytes, size_t count), (fd, bytes, count), 0, -1)
FAULTY_ON(to, ssize_t, copy_file_range,
          (int from, off64_t *at, int to, off64_t *there, size_t count, unsigned flags),
          (from, at, to, there, count, flags), 1, -1)
FAULTY_ON(fd, int, close, (int fd), (fd), 0, -1)
FAULTY_ON(fd, int, ftruncate64, (int fd, off64_t length), (fd, length), 1, -1)
FAULTY(int, linkat, (int a, const char *from, int b, const char *to, int flags),
       (a, from, b, to, flags), 1, -1)
FAULTY(int, rename, (const char *from, const char *to), (from, to), 1, -1)
/* Taking a file away needs no room: it may be denied, but does not count as a write. */
FAULTY(int, unlink, (const char *path), (path), 0, -1)
FAULTY_ON(fd, int, flock, (int fd, int operation), (fd, operation), 0, -1)
FAULTY_ON(fd, int, fstat64, (int fd, struct stat64 *facts), (fd, facts), 0, -1)
FAULTY(int, lstat64, (const char *path, struct stat64 *facts), (path, facts), 0, -1)
FAULTY(int, stat64, (const char *path, struct stat64 *facts), (path, facts), 0, -1)
FAULTY(void *, mmap64, (void *at, size_t size, int access, int flags, int fd, off64_t offset),
       (at, size, access, flags, fd, offset), 0, MAP_FAILED)
