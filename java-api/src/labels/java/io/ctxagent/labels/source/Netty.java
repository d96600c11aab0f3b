package io.ctxagent.labels.source;

import io.ctxagent.labels.Labels;

/** Netty's event loops: a task has the labels of the thread that hands it over. */
public final class Netty {
    private Netty() {}

    public static Object carry(Object task) {
        return Labels.isOn(Labels.NETTY) && task instanceof Runnable
                ? Labels.carry(Labels.NETTY, (Runnable) task)
                : task;
    }
}
