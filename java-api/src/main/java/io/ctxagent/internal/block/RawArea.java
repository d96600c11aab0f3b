package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.Memory;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.intern.Utf8;

/**
 * Values that are not interned: their UTF-8 bytes lie in the block's own raw area. Bytes whose bit
 * is not set belong to no value, so they are written outside the sequence.
 */
public final class RawArea {
    private static final int ASCII = 0x7f;

    private RawArea() {}

    /** Has the VM initialise this class. */
    public static void initialise() {}

    /**
     * Writes {@code value} where no byte is {@code used}. Returns its value id, the overflow id if
     * it does not fit.
     */
    public static int write(long block, long used, String value) {
        return write(CompilerRules.KEEP_CALL, block, used, value);
    }

    /**
     * Calls itself first, and so stays a call (rule 5 of {@link CompilerRules}): inlined, it makes
     * the code of each scope too large to be inlined, with raw values or without.
     */
    private static int write(int callsLeft, long block, long used, String value) {
        if (callsLeft > 0) {
            return write(callsLeft - 1, block, used, value);
        }
        int length = value.length();
        int top = top(used);
        if (isIdLength(length)) {
            int at = gap(used, length / 2);
            if (at >= 0 && writeHex(block, at, value, length)) {
                return id(at, length / 2) | BlockLayout.HEX_BIT;
            }
        }
        return length <= BlockLayout.RAW_LENGTH - top && writeAscii(block, top, value, length)
                ? id(top, length)
                : writeUtf8(block, used, value);
    }

    /**
     * Whether {@code value}, cut to the length of the whole area, fits in where no byte is {@code
     * used}.
     */
    public static boolean fits(String value, long used) {
        int length = isHex(value)
                ? value.length() / 2
                : Utf8.bytes(value, Utf8.fitting(value, BlockLayout.RAW_LENGTH));
        return gap(used, length) >= 0;
    }

    /** Where no byte is used from there on. */
    public static int top(long used) {
        return Long.SIZE - Long.numberOfLeadingZeros(used);
    }

    /** Where so many bytes are not used: at the top if they fit there; -1 if nowhere. */
    private static int gap(long used, int length) {
        int top = top(used);
        if (length <= BlockLayout.RAW_LENGTH - top) {
            return top;
        }
        // A bit is left where as many free bytes begin.
        long free = ~used & bits(0, BlockLayout.RAW_LENGTH);
        long begin = free;
        for (int i = 1; i < length && begin != 0; i++) {
            begin &= free >>> i;
        }
        return begin == 0 ? -1 : Long.numberOfTrailingZeros(begin);
    }

    private static long bits(int offset, int length) {
        // In two steps, as a shift by all 64 bits is none.
        return ~(-1L << (length >> 1) << (length + 1 >> 1)) << offset;
    }

    /** The bytes that the value behind {@code id} has. Without a branch, see rule 5. */
    public static long bytesOf(int id) {
        // All ones for the id of a raw value; 0 for OVERFLOW_ID, which is -1, and all others.
        int raw = id + 1 >> Integer.SIZE - 1;
        return bits(offset(id), length(id)) & raw;
    }

    /**
     * Writes the bytes of the value {@code id} of a copied raw area. Returns its new id, the
     * overflow id if it does not fit.
     */
    static int write(long block, long used, byte[] area, int id) {
        int length = length(id);
        int from = offset(id);
        int at = gap(used, length);
        if (at < 0 || from + length > area.length) {
            return BlockLayout.OVERFLOW_ID;
        }
        for (int i = 0; i < length; i++) {
            Slab.putRawByte(block, at + i, area[from + i]);
        }
        return id(at, length) | id & BlockLayout.HEX_BIT;
    }

    /**
     * Whether the bytes of the value {@code id} of a copied raw area lie at the same place of the
     * block.
     */
    static boolean isThere(long block, byte[] area, int id) {
        int from = offset(id);
        int end = from + length(id);
        if (end > BlockLayout.RAW_LENGTH || end > area.length) {
            return false;
        }
        for (int i = from; i < end; i++) {
            if (Slab.rawByte(block, i) != area[i]) {
                return false;
            }
        }
        return true;
    }

    /** The bytes that {@link #write} writes of a value that fits. */
    public static byte[] bytes(String value) {
        return Utf8.repaired(value, Utf8.fitting(value, BlockLayout.RAW_LENGTH))
                .getBytes(Utf8.charset());
    }

    /** The value behind {@code id} in a copy of the area. */
    static String text(byte[] area, int id) {
        int offset = offset(id);
        if (!isPacked(id)) {
            return new String(area, offset, length(id), Utf8.charset());
        }
        char[] digits = new char[textLength(id)];
        for (int i = 0; i < digits.length; i++) {
            digits[i] = digitIn(area[offset + i / 2], i);
        }
        return new String(digits);
    }

    /** Whether the bytes of the value are hexadecimal digits, two each. */
    private static boolean isPacked(int id) {
        return (id & BlockLayout.HEX_BIT) != 0;
    }

    /** Bytes that the text of a raw value has. */
    static int textLength(int id) {
        return isPacked(id) ? 2 * length(id) : length(id);
    }

    /** A byte of the text of a raw value. */
    static byte textByte(long block, int id, int at) {
        if (!isPacked(id)) {
            return Slab.rawByte(block, offset(id) + at);
        }
        return (byte) digitIn(Slab.rawByte(block, offset(id) + at / 2), at);
    }

    private static char digitIn(byte pair, int at) {
        return Character.forDigit((at % 2 == 0 ? pair >> 4 : pair) & 0xf, 16);
    }

    /** Bytes that the value behind {@code id} takes. */
    public static int length(int id) {
        return isRaw(id) ? id & 0xff : 0;
    }

    public static int offset(int id) {
        return id >> 8 & 0xff;
    }

    public static boolean isRaw(int id) {
        return (id & BlockLayout.RAW_BIT) != 0 && id != BlockLayout.OVERFLOW_ID;
    }

    public static int id(int offset, int length) {
        return BlockLayout.RAW_BIT | offset << 8 | length;
    }

    /** Whether it is as long as the id of a trace or a span. */
    private static boolean isIdLength(int length) {
        return length == 2 * Long.BYTES || length == 4 * Long.BYTES;
    }

    private static boolean isHex(String value) {
        int length = value.length();
        boolean isHex = isIdLength(length);
        for (int i = 0; isHex && i < length; i++) {
            isHex = digit(value.charAt(i)) >= 0;
        }
        return isHex;
    }

    /** The value of a digit that is no capital letter, or -1. */
    private static int digit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }

    /**
     * Writes the id of a trace or a span, two digits in a byte; {@code false} if it is something
     * else of that length.
     */
    private static boolean writeHex(long block, int offset, String value, int length) {
        if (Memory.DIRECT) {
            return Memory.putHex(block, BlockLayout.RAW + offset, value);
        }
        if (!isHex(value)) {
            return false;
        }
        for (int i = 0; i < length; i += 2) {
            int pair = digit(value.charAt(i)) << 4 | digit(value.charAt(i + 1));
            Slab.putRawByte(block, offset + i / 2, pair);
        }
        return true;
    }

    /** Writes a value that is all ASCII; {@code false} if it is not. */
    private static boolean writeAscii(long block, int offset, String value, int length) {
        if (!Memory.DIRECT || length < Long.BYTES) {
            return writeChars(block, offset, value, length);
        }
        return Memory.putAscii(block, BlockLayout.RAW + offset, value);
    }

    private static boolean writeChars(long block, int offset, String value, int length) {
        int all = 0;
        for (int i = 0; i < length; i++) {
            int c = value.charAt(i);
            all |= c;
            Slab.putRawByte(block, offset + i, c);
        }
        return (all & ~ASCII) == 0;
    }

    private static int writeUtf8(long block, long used, String value) {
        int end = Utf8.fitting(value, BlockLayout.RAW_LENGTH);
        if (end < value.length()) {
            Bridge.count(Misuse.VALUE_CUT);
        }
        int offset = gap(used, Utf8.bytes(value, end));
        if (offset < 0) {
            Bridge.count(Misuse.RAW_AREA_FULL);
            return BlockLayout.OVERFLOW_ID;
        }
        if (!Utf8.wellFormed(value, end)) {
            Bridge.count(Misuse.TEXT_REPLACED);
        }
        int at = offset;
        for (int i = 0; i < end; i += Utf8.charsAt(value, i)) {
            at = writeCodePoint(block, at, Utf8.codePointAt(value, i));
        }
        return id(offset, at - offset);
    }

    private static int writeCodePoint(long block, int offset, int c) {
        int at = offset;
        if (c < 0x80) {
            Slab.putRawByte(block, at++, c);
        } else if (c < 0x800) {
            Slab.putRawByte(block, at++, 0xc0 | c >> 6);
            Slab.putRawByte(block, at++, 0x80 | c & 0x3f);
        } else {
            if (c < 0x10000) {
                Slab.putRawByte(block, at++, 0xe0 | c >> 12);
            } else {
                Slab.putRawByte(block, at++, 0xf0 | c >> 18);
                Slab.putRawByte(block, at++, 0x80 | c >> 12 & 0x3f);
            }
            Slab.putRawByte(block, at++, 0x80 | c >> 6 & 0x3f);
            Slab.putRawByte(block, at++, 0x80 | c & 0x3f);
        }
        return at;
    }

    /** The first {@code length} bytes of the raw area. */
    public static byte[] copy(long block, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = Slab.rawByte(block, i);
        }
        return bytes;
    }

    /**
     * Closes the gaps between raw values. Only in the sequence, and only while no scope is open: a
     * scope remembers ids with their offsets.
     */
    static void compact(long block) {
        int top = 0;
        for (int slot = lowestFrom(block, 0); slot >= 0; slot = lowestFrom(block, top)) {
            int id = Slab.id(block, slot);
            int length = length(id);
            for (int i = 0; i < length; i++) {
                Slab.putRawByte(block, top + i, Slab.rawByte(block, offset(id) + i));
            }
            Slab.putId(block, slot, id(top, length) | id & BlockLayout.HEX_BIT);
            top += length;
        }
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            int id = Slab.id(block, slot);
            if (isRaw(id) && length(id) == 0) {
                // Not above the top: a copy of the area ends there.
                Slab.putId(block, slot, id(0, 0));
            }
        }
        Slab.putRawUsed(block, bits(0, top));
    }

    /**
     * The slot of the raw value that lies lowest at or above {@code from} and is not empty, or -1.
     */
    private static int lowestFrom(long block, int from) {
        int best = -1;
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            int id = Slab.id(block, slot);
            boolean candidate = length(id) > 0 && offset(id) >= from;
            if (candidate && (best < 0 || offset(id) < offset(Slab.id(block, best)))) {
                best = slot;
            }
        }
        return best;
    }
}
