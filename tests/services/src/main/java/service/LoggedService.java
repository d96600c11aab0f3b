package service;

import java.io.File;
import java.util.Map;
import org.apache.logging.log4j.ThreadContext;
import org.slf4j.MDC;

/**
 * Work under keys of loggers' contexts, by turns of SLF4J and of Log4j; the argument says how
 * often. With {@code between} a key is set in a first recording and removed between it and a
 * second one.
 */
public class LoggedService {
    private static final String LONG = "x".repeat(1 << 20);
    private static final Map<String, String> EIGHT = Map.of(
            "tenant", "globex", "a", "no", "b", "no", "c", "no", "d", "no", "e", "no", "f", "no",
            "g", "no");

    public static void main(String[] args) throws InterruptedException {
        if (args[0].equals("between")) {
            MDC.put("tenant", "acme");
            await("stopped");
            MDC.remove("tenant");
            await("started");
            for (int i = 0; i < 1_000; i++) {
                workOfNobody();
            }
            await("ended");
            return;
        }
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            MDC.put("tenant", "acme");
            MDC.put("secret", "not to be recorded");
            workOfAcme();
            MDC.setContextMap(EIGHT);
            workOfGlobex();
            MDC.remove("tenant");
            workOfNobody();
            MDC.put("tenant", LONG);
            workOfLong();
            MDC.put("tenant", "\u0001\u202e\n");
            workOfControls();
            MDC.put("tenant", null);
            workOfNobody();
            MDC.put("tenant", "acme");
            MDC.clear();
            workOfNobody();
            ThreadContext.putAll(Map.of("user", "ann", "secret", "not to be recorded"));
            workOfAnn();
            ThreadContext.put("user", "bob");
            workOfBob();
            ThreadContext.clearAll();
            workOfNobody();
        }
        System.out.println("SERVED-DONE");
    }

    /** Says that it waits for a file, and does. */
    private static void await(String file) throws InterruptedException {
        System.out.println("until " + file);
        while (!new File(file).exists()) {
            Thread.sleep(1);
        }
    }

    private static void workOfAcme() {
        Work.spin(300_000);
    }

    private static void workOfGlobex() {
        Work.spin(300_000);
    }

    private static void workOfLong() {
        Work.spin(300_000);
    }

    private static void workOfControls() {
        Work.spin(300_000);
    }

    private static void workOfAnn() {
        Work.spin(300_000);
    }

    private static void workOfBob() {
        Work.spin(300_000);
    }

    private static void workOfNobody() {
        Work.spin(300_000);
    }
}
