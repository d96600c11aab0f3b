/*
 * Preloaded into a JVM. The kernel answers EPERM to one system call of this process and its
 * children, as under the seccomp profile of a container.
 *
 * DENIED=name: the call, one of CALLS. At the start one line says whether the kernel accepted the
 * filter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define CALL(name) {#name, SYS_##name}
static const struct { const char *name; unsigned number; } CALLS[] = {
    CALL(timer_create), CALL(timer_settime), CALL(timer_delete), CALL(rt_tgsigqueueinfo),
    CALL(flock), CALL(ftruncate), CALL(linkat), CALL(renameat), CALL(pwrite64),
    CALL(copy_file_range), CALL(perf_event_open), CALL(membarrier), CALL(memfd_create),
    CALL(process_vm_readv),
    CALL(sched_setaffinity), CALL(sched_setattr),
#ifdef SYS_rename
    CALL(rename), CALL(link),
#endif
};

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("DENIED");
  for (size_t i = 0; wanted && i < sizeof CALLS / sizeof *CALLS; i++) {
    if (strcmp(wanted, CALLS[i].name) != 0) continue;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    int taken = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    dprintf(2, "denied: %s: %s\n", wanted, taken ? "yes" : strerror(errno));
    return;
  }
  dprintf(2, "denied: %s: no such call here\n", wanted ? wanted : "nothing");
}
