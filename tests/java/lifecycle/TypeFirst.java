import io.ctxagent.ContextRegistration;
import io.ctxagent.ContextType;
import io.ctxagent.ContextTypes;
import io.ctxagent.RecordingContext;

/**
 * Its first use of the API is to set a context type that a provider registers. Then it sets one
 * that nobody registers, several times.
 */
public final class TypeFirst {
    /** Registered by the provider. */
    public static final class Order extends ContextType {
        String tenant;
    }

    /** Registered by nobody. */
    public static final class Forgotten extends ContextType {
        String colour = "red";
    }

    /** Named in {@code META-INF/services} by the test. */
    public static final class Provider implements ContextRegistration {
        @Override
        public void register() {
            ContextTypes.register(Order.class);
        }
    }

    public static void main(String[] args) {
        Order order = new Order();
        order.tenant = "acme";
        try (RecordingContext c = order.set()) {
            System.out.println(RecordingContext.describe());
        }
        for (int i = 0; i < 3; i++) {
            try (RecordingContext c = new Forgotten().set()) {
                System.out.println(RecordingContext.describe());
            }
        }
    }
}
