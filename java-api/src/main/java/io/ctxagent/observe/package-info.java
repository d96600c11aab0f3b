/**
 * An observer of what happens in the application, after {@code perf_hooks} of Node: marks and
 * measures, timed functions, collections of the garbage collector, each with the context of its
 * thread.
 *
 * <p>{@link io.ctxagent.observe.ContextObserver} tells of them, {@link io.ctxagent.observe.Marks}
 * and {@link io.ctxagent.observe.Timed} make them.
 */
package io.ctxagent.observe;
