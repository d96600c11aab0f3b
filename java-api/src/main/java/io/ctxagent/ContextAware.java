package io.ctxagent;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a String field of an application's own {@code jdk.jfr.Event} that takes an attribute of the
 * context when the event is committed by {@link ContextEvents#commit}. One field for each
 * attribute, or one for all of them:
 *
 * <pre>{@code
 * class OrderPlaced extends Event {
 *     @ContextAware String tenant;
 *     @ContextAware("http.route") String route;
 *     @ContextAware(ContextAware.ALL) String context;      // "http.route=/checkout, tenant=acme"
 *     long amount;
 * }
 * }</pre>
 *
 * <p>The context is that of the thread that commits. Without the agent: the field keeps what it
 * has.
 *
 * @since 0.1
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
public @interface ContextAware {
    /** All attributes, as {@code name=value} with {@code ", "} between them. */
    String ALL = "*";

    /**
     * Returns the attribute.
     *
     * @return the name of the attribute, {@link #ALL}, or nothing for the name of the field
     */
    String value() default "";
}
