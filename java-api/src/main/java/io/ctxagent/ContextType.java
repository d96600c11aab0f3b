package io.ctxagent;

/**
 * A group of attributes described like an event: a class with String fields.
 *
 * <pre>{@code
 * final class Trace extends ContextType {
 *     @Name("trace_id") @Label("Trace") @Description("Id of the distributed trace") String id;
 *     @Name("span_id") String span;
 * }
 *
 * static final boolean RECORDED = ContextTypes.register(Trace.class);
 *
 * Trace trace = new Trace();
 * trace.id = "0af7651916cd43dd";
 * try (RecordingContext c = trace.set()) {
 *     handle();
 * }
 * }</pre>
 *
 * <p>The annotations are those of {@code jdk.jfr}. Without {@code @Name} an attribute has the
 * field's name. Static and transient fields are not attributes.
 *
 * <p>Threads: as the fields of the subclass allow. Without the agent, or if the type is not
 * registered, {@link #set} does nothing; the latter is logged once.
 *
 * @since 0.1
 */
public abstract class ContextType {
    /** For subclasses. */
    protected ContextType() {}

    /**
     * Installs a context with the present values of the fields on the current thread; {@code null}
     * removes an attribute. Costs some nanoseconds more for each field than {@link
     * RecordingContext#where(RecordingContextKey, String)}.
     *
     * @return the context, not {@code null}; close it on this thread
     */
    public final RecordingContext set() {
        return RegisteredTypes.set(this);
    }
}
