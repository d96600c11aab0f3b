import io.ctxagent.RecordingContext;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;

/** Uses the API, and then tries for itself what the agent opened for the API. */
public final class Opened {
    public static void main(String[] args) throws Exception {
        RecordingContext.where("endpoint", "/a")
                .run(() -> System.out.println(RecordingContext.describe()));
        Module api = RecordingContext.class.getModule();
        System.out.println("api: " + (api.isNamed() ? api.getName() : "unnamed"));
        Field direct =
                Class.forName("io.ctxagent.internal.agent.Memory").getDeclaredField("DIRECT");
        direct.setAccessible(true);
        System.out.println("direct: " + direct.getBoolean(null));
        System.out.println("exported to all of the class path: "
                + Object.class
                        .getModule()
                        .isExported("jdk.internal.misc", Opened.class.getModule()));
        System.out.println("exported to the API: "
                + Object.class.getModule().isExported("jdk.internal.misc", api));
        try {
            System.out.println("Unsafe: "
                    + Class.forName("jdk.internal.misc.Unsafe")
                            .getMethod("getUnsafe")
                            .invoke(null)
                            .getClass());
        } catch (IllegalAccessException | InvocationTargetException refused) {
            System.out.println("Unsafe: refused");
        }
    }
}
