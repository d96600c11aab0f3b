import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The form in which readers tell what they see; {@code other_readers.rs} compares it. */
final class Text {
    /** Letters, digits and a few signs; every other byte becomes %XX. */
    static String escape(String text) {
        StringBuilder out = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = b >= 'a' && b <= 'z'
                    || b >= 'A' && b <= 'Z'
                    || b >= '0' && b <= '9'
                    || "._-$/".indexOf(b) >= 0;
            out.append(plain ? String.valueOf((char) b) : String.format("%%%02X", b));
        }
        return out.toString();
    }

    static String frame(String classAndMethod, int line) {
        return escape(classAndMethod) + ":" + line;
    }

    static void counts(Map<String, Long> counts) {
        counts.forEach((type, count) -> System.out.println("count " + type + " " + count));
    }

    private Text() {}
}
