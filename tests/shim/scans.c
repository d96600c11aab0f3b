/* Preloaded into a JVM: at its end one line tells how often libctxagent.so looked for the threads of the process. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_long scans;

DIR *opendir(const char *name) {
  static __typeof__(&opendir) behind;
  if (behind == NULL) behind = (__typeof__(&opendir))dlsym(RTLD_NEXT, "opendir");
  Dl_info info;
  if (strcmp(name, "/proc/self/task") == 0 && dladdr(__builtin_return_address(0), &info) && info.dli_fname && strstr(info.dli_fname, "libctxagent"))
    atomic_fetch_add(&scans, 1);
  return behind(name);
}

__attribute__((destructor)) static void end(void) { dprintf(2, "scans: %ld\n", atomic_load(&scans)); }
