/* What the preloaded libraries share. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The function of this name behind ours, in `behind`. */
#define BEHIND(name) \
  static __typeof__(&name) behind; \
  if (behind == NULL) behind = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Whether a place in code belongs to the agent. */
static inline int is_agent(void *caller) {
  Dl_info info;
  return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libctxagent");
}
