package io.ctxagent.bench.loads;

import java.util.Locale;

/** What the workers do again and again. One object per worker. */
interface Work {
    /** One operation, some tens of microseconds; the answer keeps it from being optimised away. */
    long once() throws Exception;

    /** The work of this name for worker {@code number}. */
    static Work of(String name, int number) throws Exception {
        switch (name.toLowerCase(Locale.ROOT)) {
            case "h2":
                return new DatabaseWork(number);
            case "jackson":
                return new JsonWork();
            default:
                throw new IllegalArgumentException("no load '" + name + "': h2 or jackson");
        }
    }
}
