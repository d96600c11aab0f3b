/**
 * What {@code ctxagent.jar} has besides the API: it loads the agent library that lies in the jar.
 * Not in {@code ctxagent-api.jar}, and never used where the agent came by {@code -agentpath}.
 */
package io.ctxagent.internal.loader;
