import io.ctxagent.AgentControl;

/** The lines of the agent's {@code status}. */
final class Status {
    /** What {@code status} says of this, or nothing. */
    static String of(String name) {
        return AgentControl.execute("status")
                .lines()
                .filter(line -> line.startsWith(name + ": "))
                .findFirst()
                .map(line -> line.substring(name.length() + 2).trim())
                .orElse("");
    }

    /** A counter; 0 where {@code status} has none. */
    static long counter(String name) {
        String value = of(name);
        return value.isEmpty() ? 0 : Long.parseLong(value);
    }
}
