package io.ctxagent.observe;

import java.lang.management.ManagementFactory;

/** What the VM has counted for the current thread; -1: nothing, as for a virtual thread. */
final class ThreadCounters {
    /** A linked VM may lack the module. */
    private static final boolean HAS_MODULE =
            ModuleLayer.boot().findModule("jdk.management").isPresent();

    private ThreadCounters() {}

    /** Some 10 ns. */
    static long allocatedBytes() {
        return HAS_MODULE ? Beans.allocatedBytes() : -1;
    }

    /** Half a microsecond. */
    static long cpuNanos() {
        return HAS_MODULE ? Beans.cpuNanos() : -1;
    }

    /** Loaded where the module is. */
    private static final class Beans {
        private static final com.sun.management.ThreadMXBean THREADS =
                ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class);

        static long allocatedBytes() {
            boolean isCounted = THREADS != null && THREADS.isThreadAllocatedMemorySupported();
            return isCounted ? THREADS.getCurrentThreadAllocatedBytes() : -1;
        }

        static long cpuNanos() {
            boolean isCounted = THREADS != null && THREADS.isCurrentThreadCpuTimeSupported();
            return isCounted ? THREADS.getCurrentThreadCpuTime() : -1;
        }
    }
}
