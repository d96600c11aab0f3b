package io.ctxagent.spring;

import io.ctxagent.AgentControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What was recorded up to now, in a private file that is gone once this is closed. */
final class DumpFile implements AutoCloseable {
    private final Path directory = Files.createTempDirectory("ctxagent");
    private final Path path = directory.resolve("dump.jfr");

    /** @throws IllegalStateException if nothing can be dumped now */
    DumpFile() throws IOException {
        try {
            AgentControl.execute("dump,file=" + path);
        } catch (RuntimeException notNow) {
            close();
            throw notNow;
        }
    }

    Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path);
        Files.delete(directory);
    }
}
