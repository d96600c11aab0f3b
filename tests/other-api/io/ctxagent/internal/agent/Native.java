package io.ctxagent.internal.agent;

/** Natives of an API of another release. */
public final class Native {
    private Native() {}

    static native int abi();

    static native void refused(int wanted);
}
