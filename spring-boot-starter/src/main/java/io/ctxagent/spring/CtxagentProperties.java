package io.ctxagent.spring;

import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code ctxagent.*}.
 *
 * @param start whether a recording begins with the application
 * @param recording the options of a recording, by the names that the agent knows: {@code
 *     ctxagent.recording.file=app-%p.jfr}
 */
@ConfigurationProperties("ctxagent")
record CtxagentProperties(
        @DefaultValue("false") boolean start, @DefaultValue Map<String, String> recording) {

    /** The command that begins a recording; one that is refused throws, unless users say else. */
    String startCommand() {
        StringBuilder command = new StringBuilder("start");
        recording.forEach(
                (name, value) -> command.append(',').append(name).append('=').append(value));
        if (!recording.containsKey("strict")) {
            command.append(",strict");
        }
        return command.toString();
    }
}
