import io.ctxagent.ContextType;
import io.ctxagent.ContextTypes;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextFilter;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * Uses half a second of CPU in a described context and half a second outside; {@code filter} as
 * argument: only the context is wanted.
 */
public final class Described {
    static final class Order extends ContextType {
        @Name("order.tenant")
        @Label("Tenant")
        @Description("Who pays for the order")
        String tenant;

        String channel;
    }

    public static void main(String[] args) throws InterruptedException {
        // The attribute is announced by its name first, and described later.
        RecordingContext.where("order.tenant", "early").run(() -> work(50));
        if (!ContextTypes.register(Order.class)) {
            throw new AssertionError("not registered");
        }
        if (args.length > 0) {
            RecordingContextFilter.Config.setContextFilter(
                    RecordingContextFilter.Config.createFilter()
                            .forAllTypes(type -> type.hasContext())
                            .build());
        }
        Order order = new Order();
        order.tenant = "acme";
        order.channel = "web";
        try (RecordingContext c = order.set()) {
            work(500);
        }
        Threads.start("without", () -> work(500)).join();
        System.out.println("done");
    }

    private static void work(long millis) {
        Cpu.ofThisThread(millis).burn();
    }
}
