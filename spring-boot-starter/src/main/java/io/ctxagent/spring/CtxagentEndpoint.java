package io.ctxagent.spring;

import io.ctxagent.AgentControl;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.InputStreamResource;
import org.springframework.core.io.Resource;

/**
 * {@code /actuator/ctxagent}: the state, commands, and what was recorded up to now. A request names
 * no file and no option: those are in the properties, which only the operator can set.
 */
@WebEndpoint(id = "ctxagent")
class CtxagentEndpoint {
    /** What {@code POST /actuator/ctxagent/{command}} does. */
    enum Command {
        START,
        STOP,
        PAUSE,
        RESUME
    }

    /** What {@code GET /actuator/ctxagent/{download}} gives. */
    enum Download {
        DUMP
    }

    private static final int CONFLICT = 409;

    private final CtxagentProperties properties;

    CtxagentEndpoint(CtxagentProperties properties) {
        this.properties = properties;
    }

    /** The agent's own JSON. */
    @ReadOperation(produces = "application/json")
    public WebEndpointResponse<Object> status() {
        try {
            return new WebEndpointResponse<>(AgentControl.execute("status,format=json"));
        } catch (IllegalStateException noAgent) {
            return refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, noAgent);
        }
    }

    @WriteOperation
    public WebEndpointResponse<Object> execute(@Selector Command command) {
        String text = command == Command.START
                ? properties.startCommand()
                : command.name().toLowerCase(Locale.ROOT);
        try {
            return new WebEndpointResponse<>(Map.of("answer", AgentControl.execute(text)));
        } catch (IllegalArgumentException wrong) {
            return refusal(WebEndpointResponse.STATUS_BAD_REQUEST, wrong);
        } catch (IllegalStateException notNow) {
            return refusal(CONFLICT, notNow);
        }
    }

    private static WebEndpointResponse<Object> refusal(int status, RuntimeException reason) {
        return new WebEndpointResponse<>(Map.of("error", reason.getMessage()), status);
    }

    /** A recording of what was recorded up to now, while the recording goes on. */
    @ReadOperation(produces = "application/octet-stream")
    public WebEndpointResponse<Resource> download(@Selector Download download) throws IOException {
        Path directory = Files.createTempDirectory("ctxagent");
        Path file = directory.resolve("dump.jfr");
        try {
            AgentControl.execute("dump,file=" + file);
            // It is read after its name is gone, so nothing is left wherever the answer ends.
            InputStream stream = Files.newInputStream(file);
            return new WebEndpointResponse<>(new InputStreamResource(stream));
        } catch (IllegalStateException notNow) {
            byte[] text = notNow.getMessage().getBytes(StandardCharsets.UTF_8);
            return new WebEndpointResponse<>(new ByteArrayResource(text), CONFLICT);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }
}
