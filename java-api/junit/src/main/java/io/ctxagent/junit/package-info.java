/** Checks of contexts in tests of JUnit 5. */
package io.ctxagent.junit;
