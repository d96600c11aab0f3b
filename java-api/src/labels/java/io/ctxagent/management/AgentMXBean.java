package io.ctxagent.management;

import java.util.Map;

/** The agent as clients of JMX see it, by the name {@code io.ctxagent:type=Agent}. */
public interface AgentMXBean {
    /** The answer to {@code status}, for a person. */
    String getStatus();

    /** The same as JSON. */
    String getStatusJson();

    boolean isRecording();

    /** Each counter, by the name of its metric in {@code status,format=prometheus}. */
    Map<String, Long> getMetrics();

    /** Begins a recording with these options, {@code file=app.jfr,interval=10ms}. */
    String start(String options);

    String stop();

    String pause();

    String resume();

    /** Writes what was recorded up to now into a file. */
    String dump(String file);
}
