/**
 * The agent and what it hands over: the natives, the layout and the memory of the slab, the keys of
 * threads. The lowest layer; also holds what all others must respect of the VM: free memory and
 * stack ({@link io.ctxagent.internal.agent.Headroom}) and the rules of the optimising compiler
 * ({@link io.ctxagent.internal.agent.CompilerRules}).
 *
 * <p>Read {@link io.ctxagent.internal.agent.Bridge} first. Not exported: for this API only.
 */
package io.ctxagent.internal.agent;
