import io.ctxagent.AgentControl;

/**
 * The hostile load and threads that change their contexts beside it, which the agent's test build
 * compares with every sample. Arguments: seconds, seed, kind of the threads with contexts (platform
 * or both).
 */
public final class Stress {
    private static final String LABELLED_THREADS = "8";
    private static final String MORE_SAMPLES_THAN_A_RUN_HAS = "1000000000000";

    private Stress() {
    }

    public static void main(String[] args) throws Exception {
        String seconds = args[0];
        String[] labelled = {args[2], LABELLED_THREADS, MORE_SAMPLES_THAN_A_RUN_HAS, "0", seconds,
                "20000"};
        Throwable[] failure = new Throwable[1];
        Thread oracle = new Thread(() -> {
            try {
                Oracle.main(labelled);
            } catch (Throwable thrown) {
                failure[0] = thrown;
            }
        }, "oracle");
        oracle.start();
        Hostile.main(new String[] {seconds, args[1]});
        oracle.join();
        if (failure[0] != null) {
            throw new AssertionError(failure[0]);
        }
        AgentControl.execute("stop"); // what is on its way is compared, too
        System.out.println("STRESS-DONE");
    }
}
