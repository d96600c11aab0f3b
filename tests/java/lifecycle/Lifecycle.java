import io.ctxagent.AgentControl;
import io.ctxagent.ContextRegistration;
import io.ctxagent.ContextType;
import io.ctxagent.ContextTypes;
import io.ctxagent.RecordingContext;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * One case of the life of contexts and of the agent. Arguments:
 * status|restart|unload|copies|direct|providers.
 */
public final class Lifecycle {
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "status" ->
                Threads.startVirtual(() -> {
                            try (RecordingContext context =
                                    RecordingContext.where("where", "virtual").build()) {
                                System.out.println(RecordingContext.describe());
                                System.out.println(AgentControl.execute("status"));
                            }
                        })
                        .join();
            case "restart" -> restart();
            case "unload" -> unload();
            case "copies" -> copies();
            case "direct" -> direct();
            case "providers" -> providers();
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }

    /** A scope is open across stop and start; another one is opened and closed between the two. */
    private static void restart() {
        try (RecordingContext outer = RecordingContext.where("scope", "outer").build()) {
            burn();
            System.out.println(AgentControl.execute("stop"));
            try (RecordingContext between =
                    RecordingContext.where("scope", "between").build()) {
                burn();
            }
            System.out.println(
                    AgentControl.execute("start,interval=2ms,cstack=no,file=second.jfr"));
            burn();
            try (RecordingContext inner =
                    RecordingContext.where("scope", "inner").build()) {
                burn();
            }
        }
        System.out.println(AgentControl.execute("stop"));
    }

    /** Contexts where no direct memory is left. */
    private static void direct() throws Exception {
        List<ByteBuffer> all = new ArrayList<>();
        try {
            while (true) {
                all.add(ByteBuffer.allocateDirect(1 << 10));
            }
        } catch (OutOfMemoryError asMeant) {
            System.out.println("used up");
        }
        for (String value : new String[] {"first", "second"}) {
            try (RecordingContext context = RecordingContext.where("key", value).build()) {
                System.out.println(RecordingContext.describe());
            }
        }
        Field direct =
                Class.forName("io.ctxagent.internal.agent.Memory").getDeclaredField("DIRECT");
        direct.setAccessible(true);
        System.out.println("direct: " + direct.get(all.isEmpty()));
    }

    /**
     * Two class loaders after each other load the API and a user of it, and are collected: one
     * whose thread ends, one whose thread lives on.
     */
    private static void unload() throws Exception {
        ExecutorService worker = Executors.newSingleThreadExecutor();
        for (int i = 0; i < 2; i++) {
            WeakReference<ClassLoader> loader =
                    useInALoaderOfItsOwn("loader-" + i, i == 0 ? null : worker);
            while (loader.get() != null) {
                System.gc();
                Thread.sleep(10); // a condition with the test's time limit
            }
            System.out.println("unloaded loader-" + i);
        }
        worker.shutdown();
        URL[] path = classPath();
        try (URLClassLoader api =
                new URLClassLoader(new URL[] {path[0]}, ClassLoader.getPlatformClassLoader())) {
            WeakReference<ClassLoader> application = useATypeInALoaderBelow(api, path);
            while (application.get() != null) {
                System.gc();
                Thread.sleep(10); // a condition with the test's time limit
            }
            System.out.println("unloaded a context type");
        }
    }

    /** As in a container: the API is shared, the application goes. */
    private static WeakReference<ClassLoader> useATypeInALoaderBelow(ClassLoader api, URL[] path)
            throws Exception {
        URLClassLoader loader = new URLClassLoader(path, api);
        Runnable use =
                (Runnable) loader.loadClass("Lifecycle$Typed").getConstructor().newInstance();
        Threads.start("typed", use::run).join();
        loader.close();
        return new WeakReference<>(loader);
    }

    /**
     * Two copies of the API in two loaders: a scope of the first is closed on another thread, its
     * owner's next call goes through the second.
     */
    private static void copies() throws Exception {
        Function<String, Object> first = half();
        Function<String, Object> second = half();
        Object outer = first.apply("outer");
        AutoCloseable scope = (AutoCloseable) first.apply("first");
        Threads.start("other", scope::close).join();
        AutoCloseable next = (AutoCloseable) second.apply("second");
        System.out.println("copies: " + second.apply(null));
        next.close();
        ((AutoCloseable) outer).close();
        System.out.println("after: " + second.apply(null));
    }

    private static Function<String, Object> half() throws Exception {
        return half(classPath());
    }

    /** Of a loader of its own. */
    @SuppressWarnings("unchecked")
    static Function<String, Object> half(URL[] path) throws Exception {
        return (Function<String, Object>)
                new URLClassLoader(path, ClassLoader.getPlatformClassLoader())
                        .loadClass("Lifecycle$Half")
                        .getConstructor()
                        .newInstance();
    }

    /** In {@code worker}, or in a thread of its own if that is {@code null}. */
    private static WeakReference<ClassLoader> useInALoaderOfItsOwn(
            String value, ExecutorService worker) throws Exception {
        URLClassLoader loader =
                new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader());
        Class<?> user = loader.loadClass("Lifecycle$User");
        if (user == User.class) {
            throw new IllegalStateException("the application's own loader was asked");
        }
        Runnable use = (Runnable) user.getConstructor(String.class).newInstance(value);
        if (worker == null) {
            Threads.start("user", use::run).join();
        } else {
            worker.submit(use).get();
        }
        loader.close();
        return new WeakReference<>(loader);
    }

    /**
     * API and provider are in a loader that no thread has as its context loader; the API is used,
     * and then, when a file {@code done} is in the working directory, once more with a new key.
     */
    private static void providers() throws Exception {
        Path services = Files.createDirectories(Path.of("providers/META-INF/services"));
        Files.writeString(
                services.resolve("io.ctxagent.ContextRegistration"), "Lifecycle$Provider");
        List<URL> path = new ArrayList<>(List.of(classPath()));
        path.add(Path.of("providers").toUri().toURL());
        Function<String, Object> half = half(path.toArray(new URL[0]));
        ((AutoCloseable) half.apply("early")).close();
        System.out.println("ready");
        Threads.awaitFile("done");
        ((AutoCloseable) half.apply("late")).close();
    }

    /** Says that it ran. */
    public static final class Provider implements ContextRegistration {
        @Override
        public void register() {
            System.out.println("registered");
        }
    }

    /** The API's jar and the directory of the programs. */
    static URL[] classPath() throws Exception {
        String[] path = System.getProperty("java.class.path").split(":");
        URL[] urls = new URL[path.length];
        for (int i = 0; i < path.length; i++) {
            urls[i] = Path.of(path[i]).toUri().toURL();
        }
        return urls;
    }

    /** Opens a context and works in it. */
    public static final class User implements Runnable {
        private final String value;

        public User(String value) {
            this.value = value;
        }

        @Override
        public void run() {
            try (RecordingContext context =
                    RecordingContext.where("loader", value).build()) {
                burn();
            }
        }
    }

    /** A context type of an application. */
    public static final class Typed extends ContextType implements Runnable {
        /** Its attribute. */
        public String typed = "a value";

        @Override
        public void run() {
            ContextTypes.register(Typed.class);
            try (RecordingContext context = set()) {
                System.out.println("typed: " + RecordingContext.describe());
            }
        }
    }

    /** Opens a context with the attribute that is named; describes what is open if none is. */
    public static final class Half implements Function<String, Object> {
        @Override
        public Object apply(String name) {
            return name == null
                    ? RecordingContext.describe()
                    : RecordingContext.where(name, "v").build();
        }
    }

    private static void burn() {
        Cpu.ofThisThread(300).burn();
    }
}
