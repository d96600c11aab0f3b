/**
 * Thread context for recordings: which endpoint, tenant or request a thread works for, carried by
 * each sample that the agent takes in it.
 *
 * <pre>{@code
 * static final RecordingContextKey ENDPOINT = RecordingContextKey.forName("endpoint");
 *
 * void handle(Request request) {
 *     try (var c = RecordingContext.where(ENDPOINT, request.path())
 *             .where("tenant", request.tenant()).build()) {
 *         reply(request);
 *     }
 * }
 * }</pre>
 *
 * <p>Run with {@code -agentpath:<path>/libctxagent.so=start,event=cpu,file=app.jfr} and ask {@code
 * ctxjfr report app.jfr --by endpoint}. Without the agent all of this does nothing, at the cost of
 * a branch.
 */
package io.ctxagent;
