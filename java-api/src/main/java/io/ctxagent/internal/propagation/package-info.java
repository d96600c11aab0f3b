/**
 * Contexts on their way to another thread: tasks, executors and completion stages that carry one,
 * and scoped values. Knows a context only as {@link
 * io.ctxagent.internal.propagation.ContextSnapshot}.
 *
 * <p>Not exported: for this API only.
 */
package io.ctxagent.internal.propagation;
