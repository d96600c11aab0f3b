/**
 * Names and values of attributes: which names are allowed, and the ids that stand for values in a
 * block. Knows no block and no thread.
 *
 * <p>Read {@link io.ctxagent.internal.intern.ValueIds} first. Not exported: for this API only.
 */
package io.ctxagent.internal.intern;
