import java.io.IOException;
import java.io.InputStream;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * First uses of the API at bad moments, each of a copy of the API in a loader of its own: {@code
 * memory FROM STEP TIMES} while the heap has FROM, FROM + STEP, ... bytes left, {@code stack FROM
 * STEP TIMES} so many frames above the end of the stack. Prints for each one what was thrown then
 * that was not the shortage itself, and how many of a thousand calls are right when the shortage is
 * over.
 */
public final class FirstUse {
    private static final int CALLS = 1_000;
    private static Object reserve;
    private static Throwable thrown;

    public static void main(String[] args) throws Exception {
        boolean ofMemory = args[0].equals("memory");
        int from = Integer.parseInt(args[1]);
        int step = Integer.parseInt(args[2]);
        Map<String, byte[]> classes = classes();
        for (int i = 0; i < Integer.parseInt(args[3]); i++) {
            Supplier<String> copy = copy(classes);
            int left = from + i * step;
            thrown = null;
            if (ofMemory) {
                whileFull(copy, left);
            } else {
                whileDeep(copy, left);
            }
            Throwable then = thrown;
            System.out.println(args[0] + " " + left + ": " + (then == null ? "nothing" : then)
                    + ", then " + right(copy) + " right");
        }
    }

    private static int right(Supplier<String> copy) {
        int right = 0;
        for (int i = 0; i < CALLS; i++) {
            try {
                right += copy.get().equals("{endpoint=/a}") ? 1 : 0;
            } catch (Throwable t) {
                thrown = t;
            }
        }
        if (thrown != null) {
            System.out.println("  " + thrown);
        }
        return right;
    }

    private static void use(Supplier<String> copy) {
        try {
            copy.get();
        } catch (OutOfMemoryError | StackOverflowError shortage) {
            // The application has it anyway.
        } catch (Throwable t) {
            thrown = t;
        }
    }

    private static void whileFull(Supplier<String> copy, int left) {
        reserve = new byte[left];
        Object[] all = null;
        for (int size = 1 << 20; size >= 16; size /= 4) {
            try {
                while (true) {
                    all = new Object[] {all, new byte[size]};
                }
            } catch (OutOfMemoryError full) {
                // Smaller ones may still fit.
            }
        }
        reserve = null;
        for (int i = 0; i < 3; i++) {
            use(copy);
        }
        reserve = all;
        reserve = null;
    }

    private static void whileDeep(Supplier<String> copy, int frames) {
        deep(copy, frames);
    }

    /** Frames between here and the end of the stack. */
    private static int deep(Supplier<String> copy, int frames) {
        int below;
        try {
            below = deep(copy, frames) + 1;
        } catch (StackOverflowError end) {
            below = 0;
        }
        if (below == frames) {
            use(copy);
        }
        return below;
    }

    /** The API and the class that uses it, in a loader of its own that needs no file any more. */
    @SuppressWarnings("unchecked")
    private static Supplier<String> copy(Map<String, byte[]> classes) throws Exception {
        ClassLoader loader = new ClassLoader(ClassLoader.getPlatformClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                byte[] bytes = classes.get(name);
                if (bytes == null) {
                    throw new ClassNotFoundException(name);
                }
                return defineClass(name, bytes, 0, bytes.length);
            }
        };
        return (Supplier<String>)
                loader.loadClass("FirstUse$Half").getConstructor().newInstance();
    }

    private static Map<String, byte[]> classes() throws IOException {
        Map<String, byte[]> classes = new HashMap<>();
        try (InputStream half = FirstUse.class.getResourceAsStream("FirstUse$Half.class")) {
            classes.put("FirstUse$Half", half.readAllBytes());
        }
        try (JarFile jar = new JarFile(System.getProperty("api"))) {
            for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
                JarEntry entry = entries.nextElement();
                if (entry.getName().endsWith(".class")) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        classes.put(
                                entry.getName().replace('/', '.').replace(".class", ""),
                                in.readAllBytes());
                    }
                }
            }
        }
        return classes;
    }

    /** Uses the API: a context of which it says what it holds. */
    public static final class Half implements Supplier<String> {
        @Override
        public String get() {
            try (io.ctxagent.RecordingContext c =
                    io.ctxagent.RecordingContext.where("endpoint", "/a").build()) {
                return io.ctxagent.RecordingContext.describe();
            }
        }
    }
}
