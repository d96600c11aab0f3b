package jdk.internal.javac;

import java.util.concurrent.atomic.AtomicBoolean;
import jdk.internal.misc.Unsafe;

/**
 * Tasks that threads without a context hand over: how many, and where the most come from. One in a
 * random number of them is looked at. Counted by plain writes: of two threads that count at the
 * same place at once, one may be lost.
 */
final class BareTasks {
    /** Places of a mechanism that hand tasks over. */
    private static final int SITES = 16;

    private static final int MECHANISMS = 8;
    /** Threads count in different stripes, mostly. */
    private static final int STRIPES = 16;

    /** Mean number of tasks from one look to the next. */
    private static final int MEAN_GAP = 1_024;
    /** Looks at the stack: so many at once, then one in so many nanoseconds. */
    private static final int FIRST_LOOKS = 256;

    private static final long NANOS_PER_LOOK = 100_000_000;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");
    private static final long BEGIN = System.nanoTime();

    /** By stripe and mechanism: tasks until the next look. */
    private static final int[] left = new int[STRIPES * MECHANISMS];
    /** Tasks from the last look to the next, and those until the last one. */
    private static final int[] gaps = new int[STRIPES * MECHANISMS];

    private static final long[] counted = new long[STRIPES * MECHANISMS];

    /** Of one thread, which alone writes what follows. */
    private static final AtomicBoolean isLooking = new AtomicBoolean();

    private static long looks;
    /**
     * By mechanism, where tasks come from, and how many. Of these, so many may come from a place
     * that was there before: one that is new takes the place of that with the fewest.
     */
    private static final String[] sites = new String[MECHANISMS * SITES];

    private static final long[] weights = new long[MECHANISMS * SITES];
    private static final long[] doubts = new long[MECHANISMS * SITES];

    static {
        java.util.Arrays.fill(gaps, 1);
    }

    private BareTasks() {}

    static void count(int mechanism) {
        int stripe = (int) UNSAFE.getLong(Thread.currentThread(), THREAD_ID) & STRIPES - 1;
        int place = stripe * MECHANISMS + mechanism;
        int rest = left[place] - 1;
        left[place] = rest;
        if (rest < 0) {
            look(place, mechanism);
        }
    }

    private static void look(int place, int mechanism) {
        if (!isLooking.compareAndSet(false, true)) {
            left[place] = 0;
            return;
        }
        try {
            int gap = gaps[place];
            counted[place] += gap;
            long now = System.nanoTime();
            int mean = (int) Math.min(MEAN_GAP, 1 + counted[place] / 32);
            int next = 1 + (int) ((now * 0x9E37_79B9_7F4A_7C15L >>> 40) % (2 * mean - 1));
            gaps[place] = next;
            left[place] = next - 1;
            if (looks < FIRST_LOOKS + (now - BEGIN) / NANOS_PER_LOOK) {
                looks++;
                note(mechanism * SITES, gap, site());
            }
        } catch (Throwable shortage) {
            // Counted, but not seen.
        } finally {
            isLooking.set(false);
        }
    }

    /** Adds to a place of those from {@code first} on. */
    private static void note(int first, int gap, String site) {
        int fewest = first;
        for (int i = first; i < first + SITES; i++) {
            if (site.equals(sites[i])) {
                weights[i] += gap;
                return;
            }
            if (weights[i] < weights[fewest]) {
                fewest = i;
            }
        }
        sites[fewest] = site;
        doubts[fewest] = weights[fewest];
        weights[fewest] += gap;
    }

    /** The frame of the application that hands the task over; else one of the JDK. */
    private static String site() {
        StackTraceElement ofJdk = null;
        for (StackTraceElement frame : new Throwable().getStackTrace()) {
            String type = frame.getClassName();
            if (!type.startsWith("java.") && !type.startsWith("jdk.") && !type.startsWith("sun.")) {
                return text(frame);
            }
            boolean isOfHook =
                    type.startsWith("jdk.internal.") || type.startsWith("java.util.conc");
            if (ofJdk == null && !isOfHook) {
                ofJdk = frame;
            }
        }
        return ofJdk == null ? "?" : text(ofJdk);
    }

    private static String text(StackTraceElement frame) {
        String method = frame.getClassName().concat(".").concat(frame.getMethodName());
        int line = frame.getLineNumber();
        return line > 0 ? method.concat(":").concat(Integer.toString(line)) : method;
    }

    /** How many. */
    static long counted(int mechanism) {
        long sum = 0;
        for (int i = mechanism; i < counted.length; i += MECHANISMS) {
            sum += counted[i] + Math.max(0, gaps[i] - 1 - left[i]);
        }
        return sum;
    }

    /** A line for each place that tasks certainly come from: how many, and the place. */
    static String sites(int mechanism) {
        StringBuilder lines = new StringBuilder();
        for (int i = mechanism * SITES; i < (mechanism + 1) * SITES; i++) {
            long certain = weights[i] - doubts[i];
            if (sites[i] != null && certain > 0) {
                lines.append(certain).append(' ').append(sites[i]).append('\n');
            }
        }
        return lines.toString();
    }
}
