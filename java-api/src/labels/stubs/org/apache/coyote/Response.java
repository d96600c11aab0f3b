package org.apache.coyote;

public final class Response {}
