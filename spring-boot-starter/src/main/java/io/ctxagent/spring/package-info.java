/**
 * The agent in a service of Spring Boot: properties {@code ctxagent.*}, an endpoint of Actuator and
 * meters of Micrometer. All of it is found by auto-configuration; nothing here is to be called.
 */
package io.ctxagent.spring;
