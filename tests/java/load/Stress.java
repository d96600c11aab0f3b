import io.ctxagent.AgentControl;

/**
 * The hostile load and threads that change their contexts beside it, which the agent's test build
 * compares with every sample. Arguments: seconds, seed, kind of the threads with contexts (platform
 * or both).
 */
public final class Stress {
    private static final String LABELLED_THREADS = "8";
    private static final String MORE_SAMPLES_THAN_A_RUN_HAS = "1000000000000";

    public static void main(String[] args) throws Exception {
        String seconds = args[0];
        String[] labelled = {
            args[2], LABELLED_THREADS, MORE_SAMPLES_THAN_A_RUN_HAS, "0", seconds, "20000"
        };
        boolean[] ended = new boolean[1];
        Thread oracle = Threads.start("oracle", () -> {
            Oracle.main(labelled);
            ended[0] = true;
        });
        Hostile.main(new String[] {seconds, args[1]});
        oracle.join();
        if (!ended[0]) {
            throw new AssertionError("the oracle failed");
        }
        AgentControl.execute("stop"); // what is on its way is compared, too
        System.out.println("STRESS-DONE");
    }
}
