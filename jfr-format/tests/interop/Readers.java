import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import one.jfr.JfrReader;
import one.jfr.StackTrace;
import one.jfr.event.Event;
import one.jfr.event.ExecutionSample;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** Counts the events of recordings as JDK Mission Control's parser and async-profiler's converter see them. */
public class Readers {
    public static void main(String[] args) throws Exception {
        for (String file : args) {
            missionControl(file);
            asyncProfiler(file);
        }
    }

    /** One line per type id: a type that JMC splits shows up under an id with a random suffix. */
    private static void missionControl(String file) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(file))) {
            for (IItem item : items) {
                counts.merge(item.getType().getIdentifier(), 1L, Long::sum);
            }
        }
        counts.forEach((type, count) -> System.out.println("jmc " + type + " " + count));
    }

    /** The converter reads by position: lost events show in the counts, garbled ones in the sums. */
    private static void asyncProfiler(String file) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        long frames = 0;
        long threads = 0;
        try (JfrReader reader = new JfrReader(file)) {
            for (Event e; (e = reader.readEvent()) != null; ) {
                counts.merge(e.getClass().getSimpleName(), 1L, Long::sum);
                if (e instanceof ExecutionSample) {
                    StackTrace stack = reader.stackTraces.get(e.stackTraceId);
                    frames += stack.methods.length;
                    threads += reader.threads.get(e.tid) != null ? 1 : 0;
                }
            }
        }
        counts.forEach((type, count) -> System.out.println("ap " + type + " " + count));
        System.out.println("ap frames " + frames);
        System.out.println("ap threads " + threads);
    }
}
