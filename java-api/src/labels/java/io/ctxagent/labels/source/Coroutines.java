package io.ctxagent.labels.source;

import io.ctxagent.labels.Labels;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.jvm.internal.CoroutineStackFrame;

/**
 * Coroutines of Kotlin: one has the labels of the thread that starts it, on each thread on which it
 * goes on.
 */
public final class Coroutines {
    private static final int SOURCE = Labels.COROUTINES;

    private Coroutines() {}

    /** A dispatcher gets a coroutine, once. */
    public static Object carry(Object coroutine) {
        if (!Labels.isOn(SOURCE) || !(coroutine instanceof Continuation)) {
            return coroutine;
        }
        Object labels = Labels.capture(SOURCE);
        return labels == null ? coroutine : new Labelled((Continuation<?>) coroutine, labels);
    }

    /** Debuggers and dispatchers look through it, as it is a frame of the coroutine's stack. */
    private static final class Labelled implements Continuation<Object>, CoroutineStackFrame {
        private final Continuation<?> coroutine;
        private final Object labels;

        Labelled(Continuation<?> coroutine, Object labels) {
            this.coroutine = coroutine;
            this.labels = labels;
        }

        @Override
        public CoroutineContext getContext() {
            return coroutine.getContext();
        }

        @Override
        public void resumeWith(Object result) {
            Object scope = Labels.isOn(SOURCE) ? Labels.resume(SOURCE, labels) : null;
            try {
                coroutine.resumeWith(result);
            } finally {
                Labels.close(SOURCE, scope);
            }
        }

        @Override
        public CoroutineStackFrame getCallerFrame() {
            return coroutine instanceof CoroutineStackFrame
                    ? (CoroutineStackFrame) coroutine
                    : null;
        }

        @Override
        public StackTraceElement getStackTraceElement() {
            return null;
        }

        @Override
        public String toString() {
            return coroutine.toString();
        }
    }
}
