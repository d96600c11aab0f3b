package io.ctxagent.management;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.ObjectName;

/** The commands of the agent, which defines this class in the boot loader once there is JMX. */
public final class ManagedAgent implements AgentMXBean {
    private static final String METRIC = "ctxagent_";

    private ManagedAgent() {}

    /** Called by the agent only. */
    private static void register() throws JMException {
        try {
            ObjectName name = new ObjectName("io.ctxagent:type=Agent");
            ManagementFactory.getPlatformMBeanServer().registerMBean(new ManagedAgent(), name);
        } catch (InstanceAlreadyExistsException another) {
            // Nobody else has this name but a thread that came here, too.
        }
    }

    private static native String execute(String options);

    @Override
    public String getStatus() {
        return execute("status");
    }

    @Override
    public String getStatusJson() {
        return execute("status,format=json");
    }

    @Override
    public boolean isRecording() {
        return getMetrics().get(METRIC + "recording") != 0;
    }

    @Override
    public Map<String, Long> getMetrics() {
        Map<String, Long> metrics = new TreeMap<>();
        for (String line : execute("status,format=prometheus").split("\n")) {
            String[] parts = line.split(" ");
            if (parts.length == 2 && parts[0].startsWith(METRIC) && !parts[0].endsWith("}")) {
                metrics.put(parts[0], Long.valueOf(parts[1]));
            }
        }
        return metrics;
    }

    @Override
    public String start(String options) {
        return execute(options.isEmpty() ? "start" : "start," + options);
    }

    @Override
    public String stop() {
        return execute("stop");
    }

    @Override
    public String pause() {
        return execute("pause");
    }

    @Override
    public String resume() {
        return execute("resume");
    }

    @Override
    public String dump(String file) {
        return execute("dump,file=" + file);
    }
}
