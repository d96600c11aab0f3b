import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Uses each public method of the API first, in a copy of the API of its own: a class loader for
 * each use, as classes are initialised once in each. {@code copies SEED}: each method alone, then
 * in pairs and beside what the agent calls, on threads of their own. {@code attach SEED}: on the
 * copy of the class path, by several threads, while the test loads the agent.
 *
 * <p>No use may throw what its arguments do not explain, none may hang, and contexts are on then.
 */
public class EachFirst {
    private static final long LIMIT_MILLIS = 20_000;
    private static final int DEPTH = 3;
    /** Uses by each thread after the agent is there. */
    private static final int USES_AFTER = 300;

    /** Methods to call one after the other, each on what the one before returned. */
    private record Entry(List<Method> chain, int choice) {
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            for (Method m : chain) {
                text.append(text.length() == 0 ? m.getDeclaringClass().getSimpleName() : "")
                        .append('.')
                        .append(m.getName());
            }
            return text + "(" + choice + ")";
        }
    }

    /** The API in a loader, and arguments for it. */
    private static final class Copy {
        final ClassLoader loader;
        final List<Class<?>> types = new ArrayList<>();
        final Deque<AutoCloseable> open = new ArrayDeque<>();

        Copy(ClassLoader loader) throws Exception {
            this.loader = loader;
            for (String name : names()) {
                types.add(Class.forName(name, false, loader));
            }
        }

        Class<?> type(String name) throws Exception {
            return Class.forName(name, true, loader);
        }

        /** Every public method once, those of objects behind the static ones that make them. */
        List<Entry> entries() {
            List<Entry> all = new ArrayList<>();
            List<Entry> last = new ArrayList<>();
            Map<String, Boolean> seen = new TreeMap<>();
            for (Class<?> type : types) {
                for (Method m : methods(type, true)) {
                    add(last, seen, List.of(), m);
                }
            }
            for (int depth = 1; !last.isEmpty(); depth++) {
                all.addAll(last);
                List<Entry> next = new ArrayList<>();
                for (Entry e : depth < DEPTH ? last : List.<Entry>of()) {
                    Class<?> made = e.chain.get(e.chain.size() - 1).getReturnType();
                    for (Method m :
                            types.contains(made) ? methods(made, false) : List.<Method>of()) {
                        add(next, seen, e.chain, m);
                    }
                }
                last = next;
            }
            return all;
        }

        private void add(
                List<Entry> to, Map<String, Boolean> seen, List<Method> before, Method last) {
            if (seen.put(last.toString(), true) == null) {
                List<Method> chain = new ArrayList<>(before);
                chain.add(last);
                int choices = 1;
                for (Class<?> p : last.getParameterTypes()) {
                    Class<?> single = p.isArray() ? p.getComponentType() : p;
                    choices = single.isEnum() ? single.getEnumConstants().length : choices;
                }
                for (int i = 0; i < choices; i++) {
                    to.add(new Entry(chain, i));
                }
            }
        }

        private static List<Method> methods(Class<?> type, boolean isStatic) {
            List<Method> all = new ArrayList<>();
            for (Method m : type.getDeclaredMethods()) {
                int modifiers = m.getModifiers();
                if (Modifier.isPublic(modifiers)
                        && Modifier.isStatic(modifiers) == isStatic
                        && !m.isSynthetic()) {
                    all.add(m);
                }
            }
            // In another order each time otherwise.
            all.sort((a, b) -> a.toString().compareTo(b.toString()));
            return all;
        }

        /** Calls an entry of any copy. */
        void call(Entry e) throws Throwable {
            Object on = null;
            for (Method m : e.chain) {
                Class<?> type = type(m.getDeclaringClass().getName());
                Method mine = type.getMethod(m.getName(), mine(m.getParameterTypes()));
                // Of a nested class or an implementation that is not public.
                mine.setAccessible(true);
                Class<?>[] parameters = mine.getParameterTypes();
                Object[] arguments = new Object[parameters.length];
                for (int i = 0; i < parameters.length; i++) {
                    arguments[i] = argument(parameters[i], e.choice);
                }
                try {
                    on = mine.invoke(on, arguments);
                } catch (InvocationTargetException thrown) {
                    throw thrown.getCause();
                }
                if (on == null) {
                    return;
                }
                if (on instanceof AutoCloseable && types.contains(mine.getReturnType())) {
                    synchronized (open) {
                        open.push((AutoCloseable) on);
                    }
                }
            }
        }

        private Class<?>[] mine(Class<?>[] parameters) throws Exception {
            Class<?>[] all = parameters.clone();
            for (int i = 0; i < all.length; i++) {
                if (all[i].getName().startsWith("io.ctxagent.")) {
                    all[i] = type(all[i].getName());
                } else if (all[i].isArray() && all[i].getName().contains("io.ctxagent.")) {
                    all[i] = type(all[i].getComponentType().getName()).arrayType();
                }
            }
            return all;
        }

        private Object argument(Class<?> type, int choice) throws Exception {
            if (type == String.class || type == CharSequence.class || type == Object.class) {
                return "status".length() == choice ? "status" : "k";
            } else if (type == boolean.class) {
                return true;
            } else if (type == int.class) {
                return 1;
            } else if (type == long.class) {
                return 1L;
            } else if (type == double.class) {
                return 1.0;
            } else if (type == Duration.class) {
                return Duration.ofMillis(1);
            } else if (type == Class.class) {
                return type("EachFirst$Type");
            } else if (type == Map.class) {
                return Map.of("k", "v");
            } else if (type.isEnum()) {
                return type.getEnumConstants()[choice % type.getEnumConstants().length];
            } else if (type.isArray()) {
                Object[] array = (Object[])
                        Array.newInstance(type.getComponentType(), type == String[].class ? 2 : 1);
                for (int i = 0; i < array.length; i++) {
                    array[i] = argument(type.getComponentType(), choice);
                }
                return array;
            } else if (type.getName().equals("io.ctxagent.RecordingContextKey")) {
                return type.getMethod("forName", String.class).invoke(null, "k");
            } else if (type.getName().equals("io.ctxagent.RecordingContextFilter")) {
                Class<?> config = type("io.ctxagent.RecordingContextFilter$Config");
                Object builder = config.getMethod("createFilter").invoke(null);
                Object key = argument(type("io.ctxagent.RecordingContextKey"), 0);
                java.util.function.Consumer<Object> conditions = each -> {
                    try {
                        each.getClass().getMethod("hasContext").invoke(each);
                        each.getClass()
                                .getMethod("hasKey", key.getClass().getSuperclass())
                                .invoke(each, key);
                    } catch (ReflectiveOperationException e) {
                        throw new AssertionError(e);
                    }
                };
                builder.getClass()
                        .getMethod("forAllTypes", java.util.function.Consumer.class)
                        .invoke(builder, conditions);
                return builder.getClass().getMethod("build").invoke(builder);
            } else if (type.isInterface()) {
                return Proxy.newProxyInstance(loader, new Class<?>[] {type}, (p, m, a) -> {
                    switch (m.getName()) {
                        case "hashCode":
                            return 1;
                        case "equals":
                            return p == a[0];
                        case "toString":
                            return "proxy";
                        default:
                            return m.getReturnType() == boolean.class ? (Object) false : null;
                    }
                });
            }
            return null;
        }

        void closeAll() throws Exception {
            synchronized (open) {
                while (!open.isEmpty()) {
                    open.pop().close();
                }
            }
        }

        /** Calls a method that the agent calls. */
        void agentCalls(String type, String method) throws Throwable {
            Method m = type(type).getDeclaredMethod(method);
            m.setAccessible(true);
            m.invoke(null);
        }

        /** Whether a scope has an effect. */
        boolean isOn() throws Exception {
            Class<?> context = type("io.ctxagent.RecordingContext");
            Object builder = context.getMethod("where", String.class, String.class)
                    .invoke(null, "k", "is-on");
            Method build = builder.getClass().getMethod("build");
            build.setAccessible(true);
            try (AutoCloseable scope = (AutoCloseable) build.invoke(builder)) {
                return context.getMethod("describe").invoke(null).toString().contains("is-on");
            }
        }
    }

    private static List<String> names;

    /** The public types of the API. */
    private static synchronized List<String> names() throws Exception {
        if (names == null) {
            names = new ArrayList<>();
            try (ZipFile jar = new ZipFile(api().toFile())) {
                for (ZipEntry entry : Collections.list(jar.entries())) {
                    String name = entry.getName();
                    if (name.matches("io/ctxagent/(observe/)?[A-Z][\\w$]*\\.class")) {
                        String type = name.substring(0, name.length() - 6).replace('/', '.');
                        Class<?> found =
                                Class.forName(type, false, ClassLoader.getSystemClassLoader());
                        boolean isPublic = true;
                        for (Class<?> c = found; c != null; c = c.getEnclosingClass()) {
                            isPublic &= Modifier.isPublic(c.getModifiers());
                        }
                        if (isPublic) {
                            names.add(type);
                        }
                    }
                }
            }
            Collections.sort(names);
        }
        return names;
    }

    private static Path api() {
        return Path.of(System.getProperty("java.class.path").split(File.pathSeparator)[0]);
    }

    private static Copy copy() throws Exception {
        List<URL> path = new ArrayList<>();
        for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) {
            path.add(Path.of(each).toUri().toURL());
        }
        return new Copy(
                new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader()));
    }

    private interface Task {
        void run() throws Throwable;
    }

    /** Runs tasks at the same moment; says so and ends the VM if one of them hangs or throws. */
    private static void together(String what, Task... tasks) throws Exception {
        CyclicBarrier begin = new CyclicBarrier(tasks.length);
        List<Thread> threads = new ArrayList<>();
        for (Task task : tasks) {
            Thread thread = new Thread(() -> {
                try {
                    begin.await();
                    task.run();
                } catch (IllegalArgumentException
                        | IllegalStateException
                        | NullPointerException
                        | ClassCastException misuse) {
                    // By the arguments.
                    if (misuse.getStackTrace().length > 0
                            && misuse instanceof NullPointerException
                            && misuse.getStackTrace()[0].getClassName().contains(".internal.")) {
                        fail(what + " threw", misuse);
                    }
                } catch (Throwable thrown) {
                    fail(what + " threw", thrown);
                }
            });
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        long end = System.nanoTime() + 1_000_000 * LIMIT_MILLIS;
        for (Thread thread : threads) {
            thread.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
        }
        failIfAlive(what + " hangs", threads);
    }

    private static void failIfAlive(String what, List<Thread> threads) {
        if (threads.stream().anyMatch(Thread::isAlive)) {
            System.out.println("FAILED: " + what);
            for (Thread thread : threads) {
                System.out.println(thread + " " + thread.getState());
                for (StackTraceElement frame : thread.getStackTrace()) {
                    System.out.println("\tat " + frame);
                }
            }
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    private static synchronized void fail(String what, Throwable thrown) {
        System.out.println("FAILED: " + what);
        thrown.printStackTrace(System.out);
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }

    private static void requireOn(Copy copy, String after) throws Exception {
        copy.closeAll();
        if (!copy.isOn()) {
            fail("contexts are off after " + after, new IllegalStateException(after));
        }
    }

    private static void copies(Random random, int pairs) throws Exception {
        List<Entry> entries = copy().entries();
        int rounds = 0;
        for (Entry e : entries) {
            Copy copy = copy();
            together(e.toString(), () -> copy.call(e));
            requireOn(copy, e.toString());
            rounds++;
        }
        List<Entry> partners = new ArrayList<>(entries);
        for (int i = 0; i < pairs; i++) {
            Collections.shuffle(partners, random);
            for (int k = 0; k < entries.size(); k += 2) {
                Entry e = partners.get((k + 1) % partners.size());
                Entry other = partners.get(k);
                Copy copy = copy();
                int kind = random.nextInt(4);
                String what = e
                        + (kind == 0
                                ? " and " + other
                                : kind == 1
                                        ? " and warmUp"
                                        : kind == 2
                                                ? " and beforeRecording"
                                                : " and " + other + " and warmUp");
                Task second = () -> copy.call(other);
                Task warmUp = () -> copy.agentCalls("io.ctxagent.WarmUp", "warmUp");
                Task recording =
                        () -> copy.agentCalls("io.ctxagent.ContextSupport", "beforeRecording");
                Task first = () -> copy.call(e);
                switch (kind) {
                    case 0 -> together(what, first, second);
                    case 1 -> together(what, first, warmUp);
                    case 2 -> together(what, first, recording);
                    default -> together(what, first, second, warmUp);
                }
                requireOn(copy, what);
                rounds++;
            }
        }
        System.out.println("entries: " + entries.size());
        System.out.println("rounds: " + rounds);
    }

    private static volatile boolean isAttached;

    private static void attach(Random random, int count) throws Exception {
        Copy copy = new Copy(ClassLoader.getSystemClassLoader());
        List<Entry> entries = copy.entries();
        Thread[] threads = new Thread[count];
        long[] uses = new long[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            Random own = new Random(random.nextLong());
            threads[i] = new Thread(() -> {
                int after = 0;
                while (after < USES_AFTER) {
                    after += isAttached ? 1 : 0;
                    Entry e = entries.get(own.nextInt(entries.size()));
                    try {
                        copy.call(e);
                    } catch (IllegalArgumentException
                            | IllegalStateException
                            | NullPointerException
                            | ClassCastException misuse) {
                        // By the arguments.
                    } catch (Throwable thrown) {
                        fail(e + " threw", thrown);
                    }
                    uses[number]++;
                }
            });
            threads[i].setDaemon(true);
            threads[i].start();
        }
        System.out.println("ready");
        long[] before = new long[count];
        long progress = System.nanoTime();
        while (!List.of(threads).stream().noneMatch(Thread::isAlive)) {
            List.of(threads).get(0).join(100);
            isAttached = isAttached || new File("attached").exists();
            if (!java.util.Arrays.equals(uses, before)) {
                System.arraycopy(uses, 0, before, 0, count);
                progress = System.nanoTime();
            } else if (System.nanoTime() - progress > 1_000_000 * LIMIT_MILLIS) {
                failIfAlive("uses at an attach hang", List.of(threads));
            }
            copy.closeAll();
        }
        requireOn(copy, "an attach");
        System.out.println("uses: " + java.util.Arrays.stream(uses).sum());
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(Long.parseLong(args[1]));
        if (args[0].equals("copies")) {
            copies(random, Integer.parseInt(args[2]));
        } else {
            attach(random, 4);
        }
        System.out.println("done");
        System.exit(0);
    }

    /** A context type of the application. */
    public static final class Type extends io.ctxagent.ContextType {
        public String k = "v";
    }
}
