/**
 * The agent for clients of JMX. Nothing of this is loaded before the VM has its platform MBean
 * server.
 */
package io.ctxagent.management;
