package io.ctxagent.junit;

import io.ctxagent.ScopeFinding;
import io.ctxagent.StrictContexts;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a test that leaves a {@link io.ctxagent.RecordingContext} open or closes one in a wrong
 * way, see {@link StrictContexts}. With and without the agent.
 *
 * <pre>{@code
 * @ExtendWith(StrictContextExtension.class)
 * class CheckoutTest { … }
 * }</pre>
 *
 * <p>Looks after each test, its {@code @AfterEach} methods included, and after the class for what
 * {@code @BeforeAll} and {@code @AfterAll} methods did. Other threads get a second to close what
 * they opened. Where tests run at the same time, the failure may be that of another one: the stack
 * tells where the scope was opened. All classes at once: {@code
 * junit.jupiter.extensions.autodetection.enabled=true}.
 *
 * @since 0.1
 */
public final class StrictContextExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private static final Namespace NAMESPACE = Namespace.create(StrictContextExtension.class);
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** An extension for JUnit to make. */
    public StrictContextExtension() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        begin(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        begin(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        end(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        end(context);
    }

    private static void begin(ExtensionContext context) {
        context.getStore(NAMESPACE).put(context.getUniqueId(), StrictContexts.watch());
    }

    private static void end(ExtensionContext context) {
        try (StrictContexts watch =
                context.getStore(NAMESPACE).remove(context.getUniqueId(), StrictContexts.class)) {
            List<ScopeFinding> findings = watch.takeFindings(PATIENCE);
            if (!findings.isEmpty()) {
                throw new AssertionError(findings.stream()
                        .map(ScopeFinding::toString)
                        .collect(Collectors.joining("\n", message(findings.size()), "")));
            }
        }
    }

    private static String message(int findings) {
        return findings == 1
                ? "a context was not used as it should be\n"
                : findings + " contexts were not used as they should be\n";
    }
}
