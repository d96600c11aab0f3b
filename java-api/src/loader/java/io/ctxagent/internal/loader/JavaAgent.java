package io.ctxagent.internal.loader;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** The entry of {@code -javaagent:ctxagent.jar=OPTIONS}, and of an attach of the jar. */
public final class JavaAgent {
    private JavaAgent() {}

    /** The VM calls this before {@code main}. A failure is a line on standard error. */
    public static void premain(String options, Instrumentation instrumentation) {
        agentmain(options, instrumentation);
    }

    /** The VM calls this at an attach. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        String given = options == null ? "" : options;
        try {
            if (!AgentLibrary.startFound(given)) {
                load(quietLoader(instrumentation));
                AgentLibrary.start(given);
            }
        } catch (IOException | LinkageError failure) {
            System.err.println("ctxagent: error: " + failure.getMessage()
                    + "; the JVM runs without the agent");
        }
    }

    private static void load(Consumer<String> loader) throws IOException {
        try {
            AgentLibrary.load(loader);
        } catch (IllegalStateException changed) {
            AgentLibrary.load(new SystemLoader());
        }
    }

    /**
     * {@code System.load} without the warning of 24 and later, which tells that somebody loads
     * native code: whoever wrote {@code -javaagent} knows. It calls what {@code System.load} calls
     * after the warning. {@code java.lang} is opened for that, to a loader with one class only.
     */
    private static Consumer<String> quietLoader(Instrumentation instrumentation) {
        try {
            Consumer<String> loader = new LibraryLoaders().loader();
            instrumentation.redefineModule(
                    Object.class.getModule(),
                    Set.of(),
                    Map.of(),
                    Map.of("java.lang", Set.of(loader.getClass().getModule())),
                    Set.of(),
                    Map.of());
            return loader;
        } catch (IOException | ReflectiveOperationException | RuntimeException changed) {
            return new SystemLoader();
        }
    }

    /** The loader of {@link LibraryLoader}, in a module of its own. */
    private static final class LibraryLoaders extends ClassLoader {
        LibraryLoaders() {
            super(null);
        }

        @SuppressWarnings("unchecked")
        Consumer<String> loader() throws IOException, ReflectiveOperationException {
            String name = LibraryLoader.class.getName();
            try (InputStream stream =
                    LibraryLoader.class.getResourceAsStream("LibraryLoader.class")) {
                byte[] bytes = stream.readAllBytes();
                return (Consumer<String>) defineClass(name, bytes, 0, bytes.length)
                        .getConstructor(Class.class)
                        .newInstance(AgentLibrary.class);
            }
        }
    }
}
