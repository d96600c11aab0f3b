package com.acme.io.ctxagent.internal.agent;

/** The same class in the package of an application that brings its own copy. */
public final class Native {
    private Native() {}

    public static native int abi();
}
