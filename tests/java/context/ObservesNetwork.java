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
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Function;

/** Connects in each way and looks up names; prints the entries of it. */
public final class ObservesNetwork {
    private static final ContextObserver observer = ContextObserver.create();
    private static InetSocketAddress open;
    private static InetSocketAddress closed;

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
        step("given up", () -> {
            try (SocketChannel channel = SocketChannel.open()) {
                channel.configureBlocking(false);
                channel.connect(new InetSocketAddress("192.0.2.1", 9));
            } catch (IOException noRouteToIt) {
                // As good: it is closed before it is connected.
            }
        });
        UnixDomainSocketAddress unix = UnixDomainSocketAddress.of("socket");
        ServerSocketChannel local = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        local.bind(unix);
        step("unix", () -> SocketChannel.open(unix).close());
        if (Threads.hasVirtual()) {
            step(
                    "virtual",
                    () -> {
                        try (RecordingContext c =
                                RecordingContext.where("tenant", "virtual").build()) {
                            new Socket(open.getAddress(), open.getPort()).close();
                        }
                    },
                    true);
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

    private static void step(String what, Threads.Body body, boolean virtual) throws Exception {
        long before = System.nanoTime();
        Threads.start(virtual, what, () -> {
                    try (RecordingContext c =
                            RecordingContext.where("tenant", "acme").build()) {
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
        return text.replace(":" + open.getPort(), ":OPEN").replace(":" + closed.getPort(), ":SHUT");
    }
}
