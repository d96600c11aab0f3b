package jdk.internal.access;

/** What {@code EventEntry} calls of it, in JDK 21 and later. */
public interface JavaLangAccess {
    void parkVirtualThread();

    void parkVirtualThread(long nanos);
}
