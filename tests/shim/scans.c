/*
 * Preloaded into a JVM. At exit one line says how often libctxagent.so scanned /proc/self/task.
 */
#include "common.h"
#include <dirent.h>
#include <stdatomic.h>

static atomic_long scans;

DIR *opendir(const char *name) {
  BEHIND(opendir);
  if (strcmp(name, "/proc/self/task") == 0 && is_agent(__builtin_return_address(0)))
    atomic_fetch_add(&scans, 1);
  return behind(name);
}

__attribute__((destructor)) static void end(void) {
  dprintf(2, "scans: %ld\n", atomic_load(&scans));
}
