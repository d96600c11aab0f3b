import java.lang.management.ManagementFactory;
import java.util.Arrays;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.TabularData;

/**
 * Asks the agent by JMX, as a client does. Words are done in order: {@code server} creates the
 * platform MBean server, {@code bean} one of the VM's beans without it, {@code wait} is {@code
 * ready} until there is a file {@code done}; {@code ?name} reads an attribute, {@code metric=name}
 * a metric, others are operations with at most one argument.
 */
public final class Managed {
    public static void main(String[] words) throws Exception {
        for (String word : words) {
            switch (word) {
                case "server":
                    ManagementFactory.getPlatformMBeanServer();
                    break;
                case "bean":
                    ManagementFactory.getRuntimeMXBean().getName();
                    break;
                case "wait":
                    System.out.println("ready");
                    Threads.awaitFile("done");
                    break;
                default:
                    System.out.println(word + ": " + answer(word));
            }
        }
    }

    private static Object answer(String word) {
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName agent = new ObjectName("io.ctxagent:type=Agent");
            if (word.equals("registered")) {
                return server.isRegistered(agent);
            }
            if (word.startsWith("?")) {
                return server.getAttribute(agent, word.substring(1));
            }
            int cut = word.indexOf('=');
            String[] arguments = cut < 0 ? new String[0] : new String[] {word.substring(cut + 1)};
            if (word.startsWith("metric=")) {
                TabularData metrics = (TabularData) server.getAttribute(agent, "Metrics");
                return metrics.get(arguments).get("value");
            }
            String[] types = new String[arguments.length];
            Arrays.fill(types, String.class.getName());
            String name = cut < 0 ? word : word.substring(0, cut);
            return server.invoke(agent, name, arguments, types);
        } catch (Exception refused) {
            Throwable cause = refused;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause;
        }
    }
}
