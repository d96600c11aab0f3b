package org.apache.coyote;

/** Does not say its status. */
public final class Response {}
