import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.item.IAccessorKey;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/**
 * What Mission Control sees in recordings of other writers: per event type the number of events and
 * of frames, and of each text of an attribute how often it is there.
 */
public final class ReadMissionControl {
    public static void main(String[] args) {
        for (String file : args) {
            System.out.println("file " + file);
            Map<String, Long> counts = new TreeMap<>();
            try {
                for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(file))) {
                    for (IItem item : items) {
                        item(item, counts);
                    }
                }
                counts.forEach((name, count) -> System.out.println(name + " " + count));
            } catch (Throwable e) {
                System.out.println("error " + e);
            }
        }
    }

    private static void item(IItem item, Map<String, Long> counts) {
        @SuppressWarnings("unchecked")
        IType<IItem> type = (IType<IItem>) item.getType();
        // Where the fields of a type differ from chunk to chunk, Mission Control gives the second
        // type a random suffix.
        String name =
                type.getIdentifier().replaceFirst("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "");
        counts.merge("count " + name, 1L, Long::sum);
        for (IAccessorKey<?> key : type.getAccessorKeys().keySet()) {
            boolean isAttribute =
                    key.getIdentifier().equals("route") || key.getIdentifier().equals("tenant");
            if (!isAttribute && !key.getIdentifier().equals("stackTrace")) {
                continue;
            }
            Object value = type.getAccessor(key).getMember(item);
            if (value instanceof IMCStackTrace stack) {
                counts.merge("frames " + name, (long) stack.getFrames().size(), Long::sum);
            } else if (isAttribute && value != null) {
                counts.merge(
                        "value " + key.getIdentifier() + "=" + value.toString().replace(' ', '_'),
                        1L,
                        Long::sum);
            }
        }
    }

    private ReadMissionControl() {}
}
