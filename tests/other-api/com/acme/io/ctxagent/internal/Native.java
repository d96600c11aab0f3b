package com.acme.io.ctxagent.internal;

/** The same class in the package of an application that brings its own copy. */
public final class Native {
    private Native() {
    }

    public static native int abi();
}
