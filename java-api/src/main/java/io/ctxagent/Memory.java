package io.ctxagent;

import io.ctxagent.internal.Bridge;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Loads and stores in the slab, by address. Initialised only when the agent is there. The system property
 * {@code io.ctxagent.memory=checked} keeps to the slow way below, for tests of it.
 *
 * <p>Where the agent opened {@code jdk.internal.misc} to this module, an access is one instruction. Where it did not, an
 * "address" is an offset into the buffer plus {@link #ORIGIN}, and each access is checked: three times slower, and so much
 * code that the compiler no longer inlines a whole scope. All callers stay inside the slab either way.
 */
final class Memory {
    /** Address of the first block; never 0. */
    static final long ORIGIN;
    /** Whether accesses are plain instructions. */
    static final boolean DIRECT;

    private static final MethodHandle GET_LONG;
    private static final MethodHandle PUT_LONG;
    private static final MethodHandle GET_INT;
    private static final MethodHandle PUT_INT;
    private static final MethodHandle GET_BYTE;
    private static final MethodHandle PUT_BYTE;
    private static final MethodHandle COMPARE_AND_SET_LONG;
    private static final MethodHandle OR_INT;
    private static final MethodHandle AND_INT;

    /** In place of an address where there is none. */
    private static final long BUFFER_ORIGIN = 1 << 12;

    static {
        Accessors a = "checked".equals(System.getProperty("io.ctxagent.memory")) ? null : unchecked();
        if (a == null) {
            a = checked();
        }
        DIRECT = a.direct;
        ORIGIN = a.origin;
        GET_LONG = a.getLong;
        PUT_LONG = a.putLong;
        GET_INT = a.getInt;
        PUT_INT = a.putInt;
        GET_BYTE = a.getByte;
        PUT_BYTE = a.putByte;
        COMPARE_AND_SET_LONG = a.compareAndSetLong;
        OR_INT = a.orInt;
        AND_INT = a.andInt;
    }

    private Memory() {
    }

    static long getLong(long at) {
        try {
            return (long) GET_LONG.invokeExact(at);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void putLong(long at, long value) {
        try {
            PUT_LONG.invokeExact(at, value);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int getInt(long at) {
        try {
            return (int) GET_INT.invokeExact(at);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void putInt(long at, int value) {
        try {
            PUT_INT.invokeExact(at, value);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static byte getByte(long at) {
        try {
            return (byte) GET_BYTE.invokeExact(at);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void putByte(long at, byte value) {
        try {
            PUT_BYTE.invokeExact(at, value);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static boolean compareAndSetLong(long at, long expected, long value) {
        try {
            return (boolean) COMPARE_AND_SET_LONG.invokeExact(at, expected, value);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void orInt(long at, int mask) {
        try {
            OR_INT.invokeExact(at, mask);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void andInt(long at, int mask) {
        try {
            AND_INT.invokeExact(at, mask);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** An error of the VM, such as a stack overflow, passes through; nothing else comes out of a load or a store. */
    private static Error unexpected(Throwable t) {
        return t instanceof Error ? (Error) t : new AssertionError(t);
    }

    // ---- set-up --------------------------------------------------------------------------------------------------

    /** The VM's own memory access, or {@code null} if this module may not use it. */
    private static Accessors unchecked() {
        try {
            Bridge.agent().openMemory(Memory.class.getModule());
            Lookup lookup = MethodHandles.lookup();
            Class<?> type = Class.forName("jdk.internal.misc.Unsafe");
            Object unsafe = lookup.findStatic(type, "getUnsafe", MethodType.methodType(type)).invoke();
            Unchecked u = new Unchecked(lookup, type, unsafe);
            Accessors a = new Accessors();
            a.direct = true;
            long field = (long) u.find("objectFieldOffset", long.class, Class.class, String.class).invoke(Buffer.class, "address");
            a.origin = (long) u.find("getLong", long.class, Object.class, long.class).invoke((Object) Bridge.slab(), field);
            a.getLong = u.find("getLong", long.class, long.class);
            a.putLong = u.find("putLong", void.class, long.class, long.class);
            a.getInt = u.find("getInt", int.class, long.class);
            a.putInt = u.find("putInt", void.class, long.class, int.class);
            a.getByte = u.find("getByte", byte.class, long.class);
            a.putByte = u.find("putByte", void.class, long.class, byte.class);
            a.compareAndSetLong = u.findOffHeap("compareAndSetLong", boolean.class, long.class, long.class, long.class);
            a.orInt = dropResult(u.findOffHeap("getAndBitwiseOrInt", int.class, long.class, int.class));
            a.andInt = dropResult(u.findOffHeap("getAndBitwiseAndInt", int.class, long.class, int.class));
            return a.origin == 0 ? null : a;
        } catch (Throwable notOpened) {
            return null;
        }
    }

    private static MethodHandle dropResult(MethodHandle handle) {
        return handle.asType(handle.type().changeReturnType(void.class));
    }

    private static Accessors checked() {
        ByteBuffer slab = Bridge.slab();
        try {
            Lookup lookup = MethodHandles.lookup();
            MethodHandle index = lookup.findStatic(Memory.class, "index", MethodType.methodType(int.class, long.class));
            VarHandle longs = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
            VarHandle ints = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
            Checked c = new Checked(lookup, slab, index);
            Accessors a = new Accessors();
            a.origin = BUFFER_ORIGIN;
            a.getLong = c.find("getLong", long.class, int.class);
            a.putLong = c.find("putLong", ByteBuffer.class, int.class, long.class);
            a.getInt = c.find("getInt", int.class, int.class);
            a.putInt = c.find("putInt", ByteBuffer.class, int.class, int.class);
            a.getByte = c.find("get", byte.class, int.class);
            a.putByte = c.find("put", ByteBuffer.class, int.class, byte.class);
            a.compareAndSetLong = c.bind(longs.toMethodHandle(VarHandle.AccessMode.COMPARE_AND_SET));
            a.orInt = c.bind(ints.toMethodHandle(VarHandle.AccessMode.GET_AND_BITWISE_OR));
            a.andInt = c.bind(ints.toMethodHandle(VarHandle.AccessMode.GET_AND_BITWISE_AND));
            a.orInt = dropResult(a.orInt);
            a.andInt = dropResult(a.andInt);
            return a;
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static int index(long address) {
        return (int) (address - BUFFER_ORIGIN);
    }

    private static final class Accessors {
        boolean direct;
        long origin;
        MethodHandle getLong;
        MethodHandle putLong;
        MethodHandle getInt;
        MethodHandle putInt;
        MethodHandle getByte;
        MethodHandle putByte;
        MethodHandle compareAndSetLong;
        MethodHandle orInt;
        MethodHandle andInt;
    }

    private static final class Unchecked {
        private final Lookup lookup;
        private final Class<?> type;
        private final Object unsafe;

        Unchecked(Lookup lookup, Class<?> type, Object unsafe) {
            this.lookup = lookup;
            this.type = type;
            this.unsafe = unsafe;
        }

        MethodHandle find(String name, Class<?> result, Class<?>... arguments) throws ReflectiveOperationException {
            return lookup.findVirtual(type, name, MethodType.methodType(result, arguments)).bindTo(unsafe);
        }

        /** A method that takes an object and an offset: no object and an address. */
        MethodHandle findOffHeap(String name, Class<?> result, Class<?>... arguments) throws ReflectiveOperationException {
            MethodType withObject = MethodType.methodType(result, arguments).insertParameterTypes(0, Object.class);
            return MethodHandles.insertArguments(lookup.findVirtual(type, name, withObject).bindTo(unsafe), 0, (Object) null);
        }
    }

    private static final class Checked {
        private final Lookup lookup;
        private final ByteBuffer slab;
        private final MethodHandle index;

        Checked(Lookup lookup, ByteBuffer slab, MethodHandle index) {
            this.lookup = lookup;
            this.slab = slab;
            this.index = index;
        }

        MethodHandle find(String name, Class<?> result, Class<?>... arguments) throws ReflectiveOperationException {
            MethodHandle m = bind(lookup.findVirtual(ByteBuffer.class, name, MethodType.methodType(result, arguments)));
            return result == ByteBuffer.class ? dropResult(m) : m;
        }

        MethodHandle bind(MethodHandle m) {
            return MethodHandles.filterArguments(m.bindTo(slab), 0, index);
        }
    }
}
