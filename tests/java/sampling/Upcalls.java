// release: 25

import io.ctxagent.RecordingContext;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/**
 * Java that C calls: the comparator of the C library's {@code qsort} burns CPU, each way for
 * {@code args[0]} milliseconds of the process's; the context says which way.
 */
public final class Upcalls {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final ValueLayout ADDRESS = ValueLayout.ADDRESS;
    private static final MethodHandle QSORT = function(
            "qsort",
            FunctionDescriptor.ofVoid(
                    ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ADDRESS));
    private static final MethodHandle CREATE = function(
            "pthread_create",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle JOIN = function(
            "pthread_join",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ADDRESS));
    private static final MemorySegment COMPARE = stub("compare", int.class, 2);
    private static final MemorySegment COMPARE_BY_SORTING = stub("compareBySorting", int.class, 2);
    private static final MemorySegment THREAD_OF_C = stub("threadOfC", MemorySegment.class, 1);

    private static long millis;
    private static volatile double result;
    private static volatile byte[] garbage;

    public static void main(String[] args) throws Throwable {
        millis = Long.parseLong(args[0]);
        sorts("plain", 32, COMPARE);
        sorts("nested", 8, COMPARE_BY_SORTING);
        Thread.ofVirtual().start(() -> sorts("virtual", 32, COMPARE)).join();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment thread = arena.allocate(8);
            MemorySegment none = MemorySegment.NULL;
            int error = (int) CREATE.invokeExact(thread, none, THREAD_OF_C, none);
            error |= (int) JOIN.invokeExact(thread.get(ValueLayout.JAVA_LONG, 0), none);
            System.out.println(error == 0 ? "done" : "no thread");
        }
    }

    static MemorySegment threadOfC(MemorySegment ignored) {
        sorts("thread of C", 32, COMPARE);
        return MemorySegment.NULL;
    }

    private static void sorts(String way, int count, MemorySegment comparator) {
        try (var open = RecordingContext.where("way", way).build()) {
            Cpu budget = Cpu.ofProcess(millis);
            while (budget.isLeft()) {
                sort(count, comparator);
            }
        }
    }

    private static void sort(int count, MemorySegment comparator) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(count);
            QSORT.invokeExact(all, (long) count, 1L, comparator);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static int compareBySorting(MemorySegment a, MemorySegment b) {
        sort(6, COMPARE);
        return 0;
    }

    static int compare(MemorySegment a, MemorySegment b) {
        double value = 1;
        for (int i = 0; i < 20_000; i++) {
            value = Math.sqrt(value + i);
        }
        result = value;
        garbage = new byte[200];
        return 0;
    }

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name).get(), descriptor);
    }

    /** C's pointer to a method here, all of whose parameters are pointers. */
    private static MemorySegment stub(String method, Class<?> result, int parameters) {
        Class<?>[] types = new Class<?>[parameters];
        ValueLayout[] layouts = new ValueLayout[parameters];
        Arrays.fill(types, MemorySegment.class);
        Arrays.fill(layouts, ADDRESS);
        ValueLayout returned = result == int.class ? ValueLayout.JAVA_INT : ADDRESS;
        try {
            MethodHandle handle = MethodHandles.lookup()
                    .findStatic(Upcalls.class, method, MethodType.methodType(result, types));
            FunctionDescriptor descriptor = FunctionDescriptor.of(returned, layouts);
            return LINKER.upcallStub(handle, descriptor, Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
