import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * The {@code app.jar} of the pages: work for two endpoints and two tenants, then the end of the
 * recording, if there is one.
 */
public final class Demonstrated {
    private static final String[] ENDPOINTS = {"/report", "/search"};
    private static final String[] TENANTS = {"acme", "globex"};

    public static void main(String[] args) {
        Cpu budget = Cpu.ofThisThread(1000);
        for (int round = 0; budget.isLeft(); round++) {
            String endpoint = ENDPOINTS[round % 2];
            try (RecordingContext context = RecordingContext.where("endpoint", endpoint)
                    .where("tenant", TENANTS[round % 2])
                    .build()) {
                Work.spin(1_000_000);
            }
        }
        try {
            AgentControl.execute("stop");
        } catch (IllegalStateException noRecording) {
            System.out.println(noRecording.getMessage());
        }
    }
}
