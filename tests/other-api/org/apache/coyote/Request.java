package org.apache.coyote;

public final class Request {}
