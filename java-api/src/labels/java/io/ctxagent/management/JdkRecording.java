package io.ctxagent.management;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.text.ParseException;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/**
 * The JDK's recording beside one of the agent, which defines this class in the boot loader when an
 * option asks for it. Called by one thread at a time, and by the agent only.
 */
final class JdkRecording {
    private static Recording running;

    private JdkRecording() {}

    /** {@code settings}: a file, or a name that the JDK knows. Returns why it did not begin. */
    private static String start(String settings, boolean isFile) {
        try {
            Configuration configuration = isFile
                    ? Configuration.create(Path.of(settings))
                    : Configuration.getConfiguration(settings);
            stop();
            running = new Recording(configuration);
            running.setName("ctxagent");
            running.start();
            return "";
        } catch (IOException | ParseException | RuntimeException | LinkageError refused) {
            stop();
            return refused.toString();
        }
    }

    /** A new file, for nobody else to read. Returns why it will not be written. */
    private static String writeTo(String name, boolean replaces) {
        Path created = null;
        try {
            Path file = Path.of(name);
            refuseAtEnd();
            if (replaces) {
                Files.deleteIfExists(file);
            }
            Files.createFile(
                    file,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rw-------")));
            created = file;
            running.setDestination(file);
            running.setDumpOnExit(true);
            return "";
        } catch (IOException | RuntimeException refused) {
            stop();
            deleteEmpty(created);
            return refused.toString();
        }
    }

    /** Throws if the JVM is ending: the JDK writes no file any more. */
    private static void refuseAtEnd() {
        Thread never = new Thread();
        Runtime.getRuntime().addShutdownHook(never);
        Runtime.getRuntime().removeShutdownHook(never);
    }

    private static void deleteEmpty(Path file) {
        try {
            if (file != null && Files.size(file) == 0) {
                Files.delete(file);
            }
        } catch (IOException itStays) {
            return;
        }
    }

    private static void stop() {
        if (running != null) {
            // Writes the file, if it has one.
            running.close();
            running = null;
        }
    }
}
