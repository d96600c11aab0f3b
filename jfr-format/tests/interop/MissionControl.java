import java.io.BufferedInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.IMCThread;
import org.openjdk.jmc.common.IMCType;
import org.openjdk.jmc.common.item.IAccessorKey;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.internal.EventArray;
import org.openjdk.jmc.flightrecorder.internal.FlightRecordingLoader;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.ResultToolkit;
import org.openjdk.jmc.flightrecorder.rules.RuleRegistry;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;

/**
 * What JDK Mission Control's parser sees in recordings, and whether each of its rules gets through.
 */
public final class MissionControl {
    public static void main(String[] args) throws Exception {
        for (String file : args) {
            System.out.println("file " + file);
            IItemCollection events = JfrLoaderToolkit.loadEvents(new File(file));
            // One line per type id: a type that JMC splits shows up under an id with a random
            // suffix.
            Map<String, Long> counts = new TreeMap<>();
            for (IItemIterable items : events) {
                for (IItem item : items) {
                    counts.merge(item.getType().getIdentifier(), 1L, Long::sum);
                    sample(item);
                }
            }
            Text.counts(counts);
            System.out.println("count hidden " + hiddenColumns(file));
            rules(events);
        }
    }

    /** Columns without a name of their own that JMC shows when it hides what is experimental. */
    private static long unnamedColumns(File file, boolean hideExperimentals) throws Exception {
        Set<String> names = new TreeSet<>();
        try (InputStream stream = new BufferedInputStream(new FileInputStream(file))) {
            for (EventArray events : FlightRecordingLoader.loadStream(
                            stream, hideExperimentals, true)
                    .getArrays()) {
                for (IAccessorKey<?> key : events.getType().getAccessorKeys().keySet()) {
                    if (key.getIdentifier().matches("context[0-7]")) {
                        names.add(key.getIdentifier());
                    }
                }
            }
        }
        return names.size();
    }

    private static long hiddenColumns(String file) throws Exception {
        long hidden = unnamedColumns(new File(file), true);
        if (hidden != 0) {
            throw new IllegalStateException(hidden + " unnamed columns are shown");
        }
        return unnamedColumns(new File(file), false);
    }

    private static void sample(IItem item) {
        Map<String, Object> values = new TreeMap<>();
        @SuppressWarnings("unchecked")
        IType<IItem> type = (IType<IItem>) item.getType();
        for (IAccessorKey<?> key : type.getAccessorKeys().keySet()) {
            IMemberAccessor<?, IItem> accessor = type.getAccessor(key);
            Object value = accessor.getMember(item);
            values.put(key.getIdentifier(), value);
            if (value instanceof IMCType named) {
                named.getFullName();
            }
        }
        if (!(values.get("stackTrace") instanceof IMCStackTrace stack)) {
            return;
        }
        IMCThread thread =
                (IMCThread) values.getOrDefault("sampledThread", values.get("eventThread"));
        StringJoiner frames = new StringJoiner(";");
        for (IMCFrame frame : stack.getFrames()) {
            String name = frame.getMethod().getType().getFullName() + "."
                    + frame.getMethod().getMethodName();
            frames.add(Text.frame(name, frame.getFrameLineNumber()));
        }
        StringJoiner context = new StringJoiner(",", "[", "]");
        Object weight = values.getOrDefault("samples", values.getOrDefault("weight", "-"));
        for (Map.Entry<String, Object> value : values.entrySet()) {
            boolean ours = !List.of("state", "name", "text").contains(value.getKey());
            if (ours && value.getValue() instanceof String text) {
                context.add(value.getKey() + "=" + Text.escape(text));
            }
        }
        System.out.println(
                "sample " + type.getIdentifier() + " " + Text.escape(thread.getThreadName()) + " "
                        + Text.escape(String.valueOf(values.getOrDefault("state", "-"))) + " "
                        + frames + " "
                        + (weight instanceof IQuantity quantity ? quantity.longValue() : weight)
                        + " " + context);
    }

    private static void rules(IItemCollection events) throws Exception {
        long rules = 0;
        Map<IRule, Future<IResult>> results =
                RulesToolkit.evaluateParallel(RuleRegistry.getRules(), events, null, 1);
        for (Map.Entry<IRule, Future<IResult>> result : results.entrySet()) {
            // Throws what the rule threw.
            IResult found = result.getValue().get();
            if (found.getSeverity() == null) {
                throw new IllegalStateException(result.getKey().getId() + " has no result");
            }
            // What the user is shown: the names of methods and classes come in here.
            for (String text :
                    new String[] {found.getSummary(), found.getExplanation(), found.getSolution()
                    }) {
                if (text != null) {
                    ResultToolkit.populateMessage(found, text, false);
                }
            }
            rules++;
        }
        System.out.println("count rules " + rules);
    }

    private MissionControl() {}
}
