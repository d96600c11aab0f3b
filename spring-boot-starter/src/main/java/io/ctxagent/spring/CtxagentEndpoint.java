package io.ctxagent.spring;

import io.ctxagent.AgentControl;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.InputStreamResource;
import org.springframework.lang.Nullable;
import org.springframework.util.MimeTypeUtils;

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

    /** What {@code GET /actuator/ctxagent/{result}} gives. */
    enum Result {
        DUMP,
        REPORT
    }

    private static final int CONFLICT = 409;
    private static final int NOT_IMPLEMENTED = 501;
    /** The attribute of requests that {@code labels=} sets. */
    private static final String DEFAULT_KEY = "operation";

    private static final int MAX_KEYS = 8;
    private static final int DEFAULT_ROWS = 25;
    private static final int MAX_ROWS = 1_000;

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

    /**
     * What was recorded up to now, while the recording goes on.
     *
     * @param by names of attributes for a report, with commas between them
     * @param limit most rows of a report
     */
    @ReadOperation(produces = {"application/octet-stream", "application/json"})
    public WebEndpointResponse<Object> read(
            @Selector Result result, @Nullable String by, @Nullable Integer limit)
            throws IOException {
        try {
            return result == Result.DUMP ? dump() : report(by, limit);
        } catch (IllegalStateException notNow) {
            return json(refusal(CONFLICT, notNow));
        } catch (NoClassDefFoundError withoutJfr) {
            // Of a linked run time.
            return json(new WebEndpointResponse<>(
                    Map.of("error", "this JVM has no module jdk.jfr, which reads recordings"),
                    NOT_IMPLEMENTED));
        }
    }

    private static WebEndpointResponse<Object> dump() throws IOException {
        try (DumpFile dump = new DumpFile()) {
            // It is read after its name is gone, so nothing is left wherever the answer ends.
            InputStream stream = Files.newInputStream(dump.path());
            return new WebEndpointResponse<>(
                    new InputStreamResource(stream), MimeTypeUtils.APPLICATION_OCTET_STREAM);
        }
    }

    /** One at a time, as each reads a whole recording. */
    private synchronized WebEndpointResponse<Object> report(String by, Integer limit)
            throws IOException {
        List<String> keys = List.of((by == null ? DEFAULT_KEY : by).split(",", MAX_KEYS));
        int rows = limit == null ? DEFAULT_ROWS : Math.min(Math.max(limit, 0), MAX_ROWS);
        try (DumpFile dump = new DumpFile()) {
            return json(
                    new WebEndpointResponse<>(CpuReport.of(dump.path(), keys).json(rows)));
        }
    }

    private static WebEndpointResponse<Object> json(WebEndpointResponse<Object> answer) {
        return new WebEndpointResponse<>(
                answer.getBody(), answer.getStatus(), MimeTypeUtils.APPLICATION_JSON);
    }
}
