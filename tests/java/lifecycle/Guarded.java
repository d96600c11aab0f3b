import io.ctxagent.RecordingContext;

/** Opens a context under a security manager whose policy grants the application nothing. */
public final class Guarded {
    public static void main(String[] args) {
        try {
            System.getProperty("io.ctxagent.memory");
            throw new IllegalStateException("no security manager");
        } catch (SecurityException asMeant) {
            System.out.println("guarded");
        }
        try (RecordingContext context = RecordingContext.where("key", "value").build()) {
            System.out.println(RecordingContext.describe());
        }
        System.out.println(RecordingContext.describe());
    }
}
