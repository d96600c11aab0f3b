package io.ctxagent.internal.intern;

import java.nio.charset.Charset;

/**
 * UTF-8 without a decoder: how much of a string fits, and whether it is well formed. Never reads
 * behind the limit.
 */
public final class Utf8 {
    private static final char REPLACEMENT = '\uFFFD';

    private Utf8() {}

    /**
     * Not of {@code StandardCharsets}: if that class was first used by us while the heap is full,
     * it could never be used again, not even by the application. This one the VM has from its
     * start.
     */
    public static Charset charset() {
        return Charset.forName("UTF-8");
    }

    /**
     * How many chars of {@code value} fit into {@code limit} bytes of UTF-8, whole code points
     * only.
     */
    public static int fitting(String value, int limit) {
        int bytes = 0;
        int i = 0;
        while (i < value.length()) {
            int width = charsAt(value, i);
            bytes += bytesAt(value, i, width);
            if (bytes > limit) {
                break;
            }
            i += width;
        }
        return i;
    }

    /** How many bytes of UTF-8 the first {@code end} chars take. */
    public static int bytes(String value, int end) {
        int bytes = 0;
        for (int i = 0; i < end; i += charsAt(value, i)) {
            bytes += bytesAt(value, i, charsAt(value, i));
        }
        return bytes;
    }

    /** Whether the first {@code end} chars are free of lone surrogates. */
    public static boolean wellFormed(String value, int end) {
        for (int i = 0; i < end; i++) {
            if (Character.isSurrogate(value.charAt(i))) {
                if (charsAt(value, i) != 2 || i + 1 == end) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    /** The first {@code end} chars with each lone surrogate replaced by U+FFFD. */
    public static String repaired(String value, int end) {
        StringBuilder text = new StringBuilder(end);
        for (int i = 0; i < end; i += charsAt(value, i)) {
            text.appendCodePoint(codePointAt(value, i));
        }
        return text.toString();
    }

    /** The code point at {@code i}; a lone surrogate reads as U+FFFD. */
    public static int codePointAt(String value, int i) {
        char c = value.charAt(i);
        if (!Character.isSurrogate(c)) {
            return c;
        }
        return charsAt(value, i) == 2 ? Character.toCodePoint(c, value.charAt(i + 1)) : REPLACEMENT;
    }

    /** 2 for a surrogate pair, else 1. */
    public static int charsAt(String value, int i) {
        return Character.isHighSurrogate(value.charAt(i))
                        && i + 1 < value.length()
                        && Character.isLowSurrogate(value.charAt(i + 1))
                ? 2
                : 1;
    }

    private static int bytesAt(String value, int i, int width) {
        char c = value.charAt(i);
        return width == 2 ? 4 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
    }
}
