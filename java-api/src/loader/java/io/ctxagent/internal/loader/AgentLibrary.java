package io.ctxagent.internal.loader;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32;

/**
 * The agent library that lies in the jar. It is loaded from a private directory, which is gone
 * afterwards, and only if it is the one that the jar was built with.
 *
 * <p>Beside an agent that is there already it is not loaded. The VM would look into it first for
 * the natives of the API, which would lose the agent that works. So each command is given to an
 * agent that the VM finds, and the library is loaded where it finds none.
 *
 * <p>As a function: runs a command, for {@code AgentControl}.
 */
public final class AgentLibrary implements UnaryOperator<String> {
    private static final String NAME = "libctxagent.so";
    /** A directory for the library where that of temporary files allows no code. */
    private static final String DIRECTORY_PROPERTY = "io.ctxagent.libdir";

    private static boolean isLoaded;

    @Override
    public String apply(String options) {
        try {
            return attach(options);
        } catch (UnsatisfiedLinkError noAgent) {
            return applyLoaded(options);
        }
    }

    private static String applyLoaded(String options) {
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
        Path directory = createPrivateDirectory(parent.toAbsolutePath());
        Path file = directory.resolve(NAME);
        try {
            try (OutputStream stream = new FileOutputStream(file.toFile())) {
                stream.write(library);
            }
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

    /**
     * A directory that only its owner can use. Its name need not be secret, as one that is there is
     * never taken: so not {@code createTempDirectory}, whose random numbers take 20 ms at first
     * use.
     */
    private static Path createPrivateDirectory(Path parent) throws IOException {
        FileAttribute<?> ownerOnly =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        while (true) {
            try {
                return Files.createDirectory(
                        parent.resolve("ctxagent-" + System.nanoTime()), ownerOnly);
            } catch (FileAlreadyExistsException taken) {
                continue;
            }
        }
    }

    /** As {@link #start}, of an agent that is there. {@code false}: there is none. */
    static boolean startFound(String options) {
        try {
            start(options);
            return true;
        } catch (UnsatisfiedLinkError noAgent) {
            return false;
        }
    }

    /**
     * Starts an agent that is new in this VM as {@code -agentpath} does, with its messages. For one
     * that is there the options are a command.
     */
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

    /** Whether the C library of this process is musl: its loader, or what that is a link to. */
    private static boolean isMusl() throws IOException {
        String mapped = Files.readString(Path.of("/proc/self/maps"));
        return mapped.contains("/ld-musl-") || mapped.contains("/libc.so\n");
    }

    /**
     * The library, if it is what the jar was built with. The checksum finds damage; whoever changes
     * the library on purpose can change it, too, as any other that lies in the same jar. SHA-256
     * finds no more, and takes 100 ms in a VM that has compiled nothing yet.
     */
    private static byte[] verified(String resource) throws IOException {
        byte[] library = read(resource);
        String expected = new String(read(resource + ".crc32"), StandardCharsets.US_ASCII);
        CRC32 checksum = new CRC32();
        checksum.update(library);
        if (!expected.equals(Long.toHexString(checksum.getValue()))) {
            throw new IOException(resource + " in the jar is not the library that it was built with"
                    + " (its checksum differs); it is not loaded");
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
}
