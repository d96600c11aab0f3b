package io.ctxagent.observe;

/**
 * What an entry is about. Which types there are in this VM, {@link
 * ContextObserver#supportedEntryTypes} says.
 *
 * <p>Threads: any. Without the agent: {@link #MARK}, {@link #MEASURE}, {@link #FUNCTION} and {@link
 * #GC} work all the same.
 *
 * @since 0.1
 */
public enum EntryType {
    /** A moment that {@link Marks#mark(String)} noted. Its detail is what the caller gave. */
    MARK,
    /** A span of time that {@link Marks#measure(String)} noted. As a mark. */
    MEASURE,
    /** A call of a function of {@link Timed}; its detail is a {@link FunctionDetail}. */
    FUNCTION,
    /** A collection of the garbage collector; its detail is a {@link GcDetail}. */
    GC,
    /**
     * A scope that its thread has closed, with the name of the first attribute that it set; its
     * detail is a {@link ContextDetail}: samples, allocation, CPU time, waiting. Also that of a
     * task which carried its context, and those that the agent opens for {@code labels=}. Those of
     * other copies of this API in the VM are not seen.
     */
    CONTEXT,
    /**
     * A request that an HTTP server has answered, with the name of its operation: {@code GET
     * /orders/{id}}; its detail is an {@link HttpDetail}. While a recording labels requests
     * ({@code labels=}), from the JDK's server, Tomcat and Jetty. Of one that goes on
     * asynchronously, the first part.
     */
    HTTP,
    /**
     * A connect of a {@code Socket}, {@code SocketChannel} or {@code AsynchronousSocketChannel},
     * with the host and port as its name; its detail is a {@link NetDetail}. Of a channel that does
     * not block, from its connect until it is connected, with the attributes of the thread that
     * began. Not those that callbacks of observers make.
     */
    NET,
    /**
     * A look-up of a host by its name, which is that of the entry; its detail is a {@link
     * DnsDetail}. Addresses that the JDK still knows are not looked up. Not those by callbacks of
     * observers.
     */
    DNS
}
