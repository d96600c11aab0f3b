import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.DnsDetail;
import io.ctxagent.observe.Entry;
import io.ctxagent.observe.EntryType;
import io.ctxagent.observe.NetDetail;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;

/** Connects in each way and looks up names; prints the entries of it. */
public final class ObservesNetwork {
    private static final ContextObserver observer = ContextObserver.create();
    /** To connect to a group is refused at once. */
    private static final InetSocketAddress NOBODY = new InetSocketAddress("224.0.0.1", 9);

    private static InetSocketAddress open;
    private static InetSocketAddress closed;
    private static int busyPort = -1;

    public static void main(String[] args) throws Exception {
        InetAddress loopback = InetAddress.getByAddress("shop.test", new byte[] {127, 0, 0, 1});
        ServerSocket server = new ServerSocket(0, 0, loopback);
        open = new InetSocketAddress(loopback, server.getLocalPort());
        try (ServerSocket free = new ServerSocket(0, 0, loopback)) {
            closed = new InetSocketAddress(loopback, free.getLocalPort());
        }
        System.out.println("before: " + isDefined() + " " + status());
        callbacksAreNotObserved();
        observer.observe(EntryType.NET, EntryType.DNS);
        System.out.println("observed: " + isDefined() + " " + status());
        connects();
        lookUps();
        faultsHarmNobody();
        observer.disconnect();
        new Socket(open.getAddress(), open.getPort()).close();
        System.out.println("disconnected: " + observer.takeRecords());
    }

    private static void connects() throws Exception {
        step("socket", () -> new Socket(open.getAddress(), open.getPort()).close());
        step("refused", () -> {
            try (Socket socket = new Socket()) {
                socket.connect(closed, 10_000);
            }
        });
        step("channel", () -> SocketChannel.open(open).close());
        step("channel refused", () -> SocketChannel.open(closed).close());
        step("adaptor", () -> {
            try (SocketChannel channel = SocketChannel.open()) {
                channel.socket().connect(open, 10_000);
            }
        });
        step("selector", () -> select(open));
        step("selector refused", () -> select(closed));
        UnixDomainSocketAddress unix = UnixDomainSocketAddress.of("socket");
        ServerSocketChannel local = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        local.bind(unix);
        step("unix", () -> SocketChannel.open(unix).close());
        fails();
        connectsLater();
        if (Threads.hasVirtual()) {
            virtualStep("socket", () -> new Socket(open.getAddress(), open.getPort()).close());
            virtualStep("channel refused", () -> SocketChannel.open(closed).close());
            virtualStep("later", () -> connectLater(open));
            virtualStep("later refused", () -> connectLater(closed));
        }
    }

    /** What a step prints of its exception is what its entry has to say. */
    private static void fails() throws Exception {
        step("unreachable", () -> SocketChannel.open(NOBODY).close());
        try (ServerSocket full = full()) {
            SocketAddress busy = full.getLocalSocketAddress();
            step("given up", () -> {
                try (SocketChannel channel = SocketChannel.open()) {
                    channel.configureBlocking(false);
                    channel.connect(busy);
                }
            });
            step("timeout", () -> {
                try (SocketChannel channel = SocketChannel.open()) {
                    channel.socket().connect(busy, 100);
                }
            });
            step("interrupted", () -> {
                Thread.currentThread().interrupt();
                SocketChannel.open(busy);
            });
            step("closed meanwhile", () -> {
                SocketChannel channel = SocketChannel.open();
                Thread closes = Threads.start("closes", () -> {
                    while (!channel.isConnectionPending()) {
                        Thread.onSpinWait();
                    }
                    channel.close();
                });
                try {
                    channel.connect(busy);
                } finally {
                    closes.join();
                }
            });
            step("later closed", () -> {
                AsynchronousSocketChannel channel = AsynchronousSocketChannel.open();
                Future<Void> connects = channel.connect(busy);
                channel.close();
                get(connects);
            });
        }
        step("twice", () -> {
            try (SocketChannel channel = SocketChannel.open(open)) {
                channel.connect(open);
            } catch (AlreadyConnectedException expected) {
                // It has one entry.
            }
        });
    }

    /** A server whose queue is full: who connects waits. */
    private static ServerSocket full() throws IOException {
        observer.disconnect();
        ServerSocket server = new ServerSocket(0, 1, open.getAddress());
        busyPort = server.getLocalPort();
        try {
            while (true) {
                SocketChannel.open().socket().connect(server.getLocalSocketAddress(), 1_000);
            }
        } catch (SocketTimeoutException full) {
            observer.observe(EntryType.NET, EntryType.DNS);
            return server;
        }
    }

    private static void connectsLater() throws Exception {
        step("later", () -> connectLater(open));
        step("later refused", () -> connectLater(closed));
        step("later unreachable", () -> connectLater(NOBODY));
        step("handler", () -> connectWithHandler(open));
        step("handler refused", () -> connectWithHandler(closed));
        step("later refuses", () -> {
            try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
                channel.connect(InetSocketAddress.createUnresolved("shop.test", 1));
            } catch (UnresolvedAddressException expected) {
                // It has no entry.
            }
        });
    }

    private static void connectLater(SocketAddress address) throws Exception {
        try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
            get(channel.connect(address));
        }
    }

    private static void connectWithHandler(SocketAddress address) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletionHandler<Void, Object> handler = new CompletionHandler<>() {
            @Override
            public void completed(Void nothing, Object attachment) {
                done.complete(nothing);
            }

            @Override
            public void failed(Throwable failure, Object attachment) {
                done.completeExceptionally(failure);
            }
        };
        try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
            channel.connect(address, null, handler);
            get(done);
        }
    }

    private static void get(Future<Void> done) throws Exception {
        try {
            done.get();
        } catch (ExecutionException failed) {
            throw (IOException) failed.getCause();
        }
    }

    /** Another thread, without a context, finishes. */
    private static void select(InetSocketAddress address) throws Exception {
        try (SocketChannel channel = SocketChannel.open();
                Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_CONNECT);
            if (!channel.connect(address)) {
                Thread finishes = Threads.start("finishes", () -> {
                    selector.select();
                    try {
                        channel.finishConnect();
                    } catch (IOException refused) {
                        // As wanted.
                    }
                });
                finishes.join();
            }
        }
    }

    private static void lookUps() throws Exception {
        step("known", () -> InetAddress.getByName("localhost"));
        step("cached", () -> InetAddress.getByName("localhost"));
        step("digits", () -> InetAddress.getByName("127.0.0.1"));
        // No server can be asked for a name of this length.
        step("unknown", () -> InetAddress.getByName("x".repeat(64)));
    }

    /** One that throws at the begin, one that throws at the end, one that wants no end. */
    private static void faultsHarmNobody() throws Exception {
        Method observe = Class.forName("jdk.internal.javac.NetEntries")
                .getDeclaredMethod("observe", int.class, Function.class, boolean.class);
        observe.setAccessible(true);
        Function<Object, Consumer<Object>> begin = subject -> {
            throw new IllegalStateException("begin");
        };
        Function<Object, Consumer<Object>> end = subject -> outcome -> {
            throw new StackOverflowError("end");
        };
        Function<Object, Consumer<Object>> none = subject -> null;
        for (Function<Object, Consumer<Object>> fault : List.of(begin, end, none)) {
            observe.invoke(null, 0, fault, true);
        }
        step("faults", () -> new Socket(open.getAddress(), open.getPort()).close());
        step("faults of channel", () -> SocketChannel.open(open).close());
        for (Function<Object, Consumer<Object>> fault : List.of(begin, end, none)) {
            observe.invoke(null, 0, fault, false);
        }
    }

    private static void callbacksAreNotObserved() throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ContextObserver connects = ContextObserver.create((entries, self) -> {
            new Socket(open.getAddress(), open.getPort()).close();
            connected.countDown();
        });
        connects.observe(EntryType.NET);
        observer.observe(EntryType.NET);
        new Socket(open.getAddress(), open.getPort()).close();
        connected.await();
        connects.disconnect();
        System.out.println("with callback: " + observer.takeRecords().size());
    }

    private static boolean isDefined() {
        try {
            Class.forName("jdk.internal.javac.NetEntries", false, null);
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    private static String status() {
        StringBuilder lines = new StringBuilder();
        for (String line : AgentControl.execute("status").split("\n")) {
            if (line.startsWith("entries ")) {
                lines.append(line.trim().replaceAll("  +", " ")).append("; ");
            }
        }
        return lines.toString();
    }

    private static void step(String what, Threads.Body body) throws Exception {
        step(what, body, false);
    }

    private static void virtualStep(String what, Threads.Body body) throws Exception {
        step("virtual " + what, body, true);
    }

    private static void step(String what, Threads.Body body, boolean virtual) throws Exception {
        long before = System.nanoTime();
        Threads.start(virtual, what, () -> {
                    try (RecordingContext c = RecordingContext.where(
                                    "tenant", virtual ? "virtual" : "acme")
                            .build()) {
                        body.run();
                    } catch (IOException expected) {
                        System.out.println(
                                what + " failed: " + expected.getClass().getSimpleName());
                    }
                })
                .join();
        long after = System.nanoTime();
        List<Entry> entries = observer.takeRecords();
        System.out.println(what + ": " + entries.size());
        for (Entry entry : entries) {
            long end = entry.startNanos() + entry.duration().toNanos();
            boolean isWithin = before <= entry.startNanos() && end <= after;
            System.out.println(text(entry) + (isWithin ? "" : " at another time"));
        }
    }

    private static String text(Entry entry) {
        String name = entry.type() + " " + entry.name() + " ";
        if (entry.detail() instanceof DnsDetail) {
            DnsDetail dns = (DnsDetail) entry.detail();
            boolean isKnown = dns.addresses().contains("127.0.0.1");
            return name + isKnown + " " + dns.failure() + " " + entry.context();
        }
        NetDetail net = (NetDetail) entry.detail();
        String to = net.host() + "/" + net.address() + ":" + net.port();
        String text = name + to + " " + net.failure() + " " + entry.context();
        return text.replace(":" + open.getPort(), ":OPEN")
                .replace(":" + closed.getPort(), ":SHUT")
                .replace(":" + busyPort, ":BUSY");
    }
}
