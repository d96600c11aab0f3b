package io.ctxagent.bench.loads;

import java.lang.management.ManagementFactory;

/**
 * The load for so many seconds of CPU time, under whatever profiler the command line has: {@code
 * h2|jackson SECONDS}.
 */
public final class Alone {
    public static void main(String[] args) throws Exception {
        new Workers(args[0], 2);
        var system = (com.sun.management.OperatingSystemMXBean)
                ManagementFactory.getOperatingSystemMXBean();
        long end = Long.parseLong(args[1]) * 1_000_000_000L;
        while (system.getProcessCpuTime() < end) {
            Thread.sleep(50); // until the CPU time is used up
        }
    }

    private Alone() {}
}
