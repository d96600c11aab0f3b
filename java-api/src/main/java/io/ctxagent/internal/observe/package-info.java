/** How entries get from those who make them to those who observe them. */
package io.ctxagent.internal.observe;
