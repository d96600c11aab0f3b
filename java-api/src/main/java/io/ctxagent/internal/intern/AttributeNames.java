package io.ctxagent.internal.intern;

import java.util.Set;

/** What a name of an attribute may be. */
public final class AttributeNames {
    /** Characters of a name at most; the agent's registry has the same limit. */
    static final int MAX_LENGTH = 63;

    private AttributeNames() {}

    /** Columns that each sample has anyway; an attribute cannot have the same name. */
    public static Set<String> reserved() {
        return Set.of(
                "startTime",
                "duration",
                "eventThread",
                "stackTrace",
                "sampledThread",
                "state",
                "contextLength",
                "contextId",
                "context",
                "weight",
                "failure");
    }

    /** Throws if {@code name} is none for an attribute, and says why. */
    public static void check(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the name of a context key is empty");
        }
        if (name.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("the name of a context key has " + name.length()
                    + " characters, at most "
                    + MAX_LENGTH + " are allowed: " + name.substring(0, MAX_LENGTH) + "...");
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
            boolean other = c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-';
            if (!letter && (i == 0 || !other)) {
                throw new IllegalArgumentException("the name of a context key has " + shown(c)
                        + " at position " + i
                        + "; allowed are ASCII letters, digits, _ . - and a letter first: " + name);
            }
        }
        if (reserved().contains(name)) {
            throw new IllegalArgumentException("\"" + name
                    + "\" is a column that every sample has; "
                    + "give the context key another name, such as \"app." + name + "\"");
        }
    }

    private static String shown(char c) {
        return c > ' ' && c < 0x7f ? "'" + c + "'" : String.format("U+%04X", (int) c);
    }
}
