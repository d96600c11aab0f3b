package io.ctxagent.internal.loader;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The agent library that lies in the jar. It is loaded from a private directory, which is gone
 * afterwards, and only if it is the one that the jar was built with.
 *
 * <p>As a function: loads it and runs its first command, for {@code AgentControl}.
 */
public final class AgentLibrary implements UnaryOperator<String> {
    private static final String NAME = "libctxagent.so";
    /** A directory for the library where that of temporary files allows no code. */
    private static final String DIRECTORY_PROPERTY = "io.ctxagent.libdir";

    private static boolean isLoaded;

    @Override
    public String apply(String options) {
        try {
            load(new SystemLoader());
        } catch (IOException | LinkageError failure) {
            throw new IllegalStateException(failure.getMessage(), failure);
        }
        return attach(options);
    }

    /** Loads the library, once. {@code loader} gets its path. */
    static synchronized void load(Consumer<String> loader) throws IOException {
        if (isLoaded) {
            return;
        }
        byte[] library = verified("/META-INF/native-libs/" + platform() + '/' + NAME);
        Path parent = Path.of(
                System.getProperty(DIRECTORY_PROPERTY, System.getProperty("java.io.tmpdir")));
        // For the owner only, as is the file in it.
        Path directory = Files.createTempDirectory(parent.toAbsolutePath(), "ctxagent");
        Path file = directory.resolve(NAME);
        try {
            Files.write(file, library, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            // So that the agent, which binds natives of loaded classes, finds it.
            loadNatives();
            loader.accept(file.toString());
            isLoaded = true;
        } catch (UnsatisfiedLinkError refused) {
            throw new IOException(
                    refused.getMessage() + " (if " + parent
                            + " is mounted with noexec, name another" + " directory with -D"
                            + DIRECTORY_PROPERTY + ")",
                    refused);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }

    /** Starts an agent that is new in this VM as {@code -agentpath} does, with its messages. */
    static native void start(String options);

    /** Runs a command as {@code AgentControl} does, the first of which starts the agent. */
    private static native String attach(String options);

    private static void loadNatives() {
        try {
            Class.forName("io.ctxagent.internal.agent.Native");
        } catch (ClassNotFoundException impossible) {
            throw new NoClassDefFoundError(impossible.getMessage());
        }
    }

    private static String platform() throws IOException {
        String system = System.getProperty("os.name");
        String processor = System.getProperty("os.arch");
        if ("Linux".equals(system) && "amd64".equals(processor)) {
            return "linux-x64" + (isMusl() ? "-musl" : "");
        }
        if ("Linux".equals(system) && "aarch64".equals(processor)) {
            return "linux-arm64" + (isMusl() ? "-musl" : "");
        }
        throw new IOException("there is no agent for " + system + " on " + processor);
    }

    /** Whether the C library of this process is musl, whose loader is mapped then. */
    private static boolean isMusl() throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains("/ld-musl-");
    }

    private static byte[] verified(String resource) throws IOException {
        byte[] library = read(resource);
        String expected = new String(read(resource + ".sha256"), StandardCharsets.US_ASCII);
        if (!expected.equals(sha256(library))) {
            throw new IOException(resource + " in the jar is not the library that it was built with"
                    + " (SHA-256 differs); it is not loaded");
        }
        return library;
    }

    private static byte[] read(String resource) throws IOException {
        try (InputStream stream = AgentLibrary.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IOException("this jar has no " + resource);
            }
            return stream.readAllBytes();
        }
    }

    private static String sha256(byte[] data) {
        try {
            StringBuilder text = new StringBuilder();
            for (byte each : MessageDigest.getInstance("SHA-256").digest(data)) {
                text.append(Character.forDigit(each >> 4 & 15, 16))
                        .append(Character.forDigit(each & 15, 16));
            }
            return text.toString();
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
