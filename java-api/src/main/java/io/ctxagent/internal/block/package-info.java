/**
 * The context blocks: who has which one, how a scope is written into it and ended, and what repairs
 * it after misuse. All operations are static and take a block by its address: no object is made for
 * a scope that does not escape.
 *
 * <p>Read {@link io.ctxagent.internal.block.Slab} first, then {@link
 * io.ctxagent.internal.block.CurrentBlock} and {@link io.ctxagent.internal.block.ScopeClose}. Not
 * exported: for this API only.
 */
package io.ctxagent.internal.block;
