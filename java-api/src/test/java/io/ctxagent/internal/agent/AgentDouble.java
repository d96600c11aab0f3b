package io.ctxagent.internal.agent;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The Java-facing side of the agent without an agent: same layout, same rules, plain memory. Tests
 * that bring it in see the real agent instead where one is loaded.
 */
public final class AgentDouble implements Agent {
    public static final int RAW_BIT = 1 << 31;

    private static final int BLOCKS = 16_384;
    private static final int STRIDE = 192;
    private static final int FLAGS = 12;
    private static final int EVENT_MASK = 16;
    private static final int NEXT_SERIAL = 20;
    private static final int FRAME = 28;
    private static final int RAW_USED = 32;
    private static final int CARRIED = 40;
    private static final int SLOTS = 64;
    private static final int RAW = 128;
    private static final int VALUES = 65_536;

    private final ByteBuffer slab = ByteBuffer.allocateDirect(BLOCKS * STRIDE);
    private final List<String> names = new ArrayList<>();
    private final Map<String, Integer> values = new HashMap<>();
    private final long[] counts = new long[Misuse.COUNT];
    private final boolean keyFromAgent = Runtime.version().feature() < 19;

    private AgentDouble() {}

    /**
     * Connects the API: to the agent of this VM, or to a double. Call it before anything else of
     * the API.
     */
    public static synchronized void connect() {
        if (Bridge.agent() == null) {
            Bridge.connectTo(new AgentDouble());
        }
    }

    /**
     * What the agent does when a platform thread ends, for all threads at once. Called where no
     * virtual thread is at work.
     */
    public synchronized void freeBlocksOfEndedThreads() {
        Set<Long> live = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getId)
                .collect(Collectors.toSet());
        ByteBuffer blocks = slab.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        for (int block = 0; block < BLOCKS * STRIDE; block += STRIDE) {
            if (blocks.getLong(block) != 0 && !live.contains(blocks.getLong(block))) {
                // The serial to come goes on.
                // Threads that live may need the reach of its place.
                blocks.putInt(block + FLAGS, blocks.getInt(block + FLAGS) & 0xff_0000);
                blocks.putInt(block + EVENT_MASK, 0);
                blocks.putLong(block + RAW_USED, 0);
                for (int at = SLOTS; at < RAW; at += Long.BYTES) {
                    blocks.putLong(block + at, 0);
                }
                blocks.putLong(block, 0);
            }
        }
    }

    @Override
    public int abi() {
        return Bridge.ABI;
    }

    @Override
    public void refused(int wanted) {
        throw new AssertionError("the double speaks the same contract");
    }

    @Override
    public void failed(String why) {
        throw new AssertionError(why);
    }

    @Override
    public long[] layout() {
        return new long[] {
            STRIDE,
            BLOCKS,
            256,
            0,
            8,
            FLAGS,
            SLOTS,
            EVENT_MASK,
            NEXT_SERIAL,
            RAW,
            64,
            1L << 31,
            0xffff_ffffL,
            keyFromAgent ? 1 : 0,
            255,
            RAW_USED,
            24,
            CARRIED,
            CARRIED + 8,
            CARRIED + 16,
            1L << 16,
            FRAME
        };
    }

    @Override
    public ByteBuffer slab() {
        return slab;
    }

    @Override
    public synchronized int bindKey(String name) {
        int slot = names.indexOf(name);
        if (slot < 0 && names.size() < 8) {
            slot = names.size();
            names.add(name);
        }
        return slot;
    }

    @Override
    public synchronized int[] bindKeys(String[] wanted) {
        long fresh = java.util.Arrays.stream(wanted)
                .filter(name -> !names.contains(name))
                .count();
        return names.size() + fresh > 8
                ? null
                : java.util.Arrays.stream(wanted).mapToInt(this::bindKey).toArray();
    }

    @Override
    public synchronized String attribute(int slot) {
        return slot < names.size() ? names.get(slot) : null;
    }

    @Override
    public synchronized String value(int id) {
        for (Map.Entry<String, Integer> value : values.entrySet()) {
            if (value.getValue() == id) {
                return value.getKey();
            }
        }
        return null;
    }

    @Override
    public void describeAttribute(int slot, String label, String description, String contextType) {
        if (label == null || description == null || contextType == null) {
            throw new AssertionError("a missing text is an empty one");
        }
    }

    @Override
    public void filterWithoutContext(int mask) {}

    @Override
    public synchronized int intern(int slot, String value) {
        Integer id = values.get(value);
        if (id == null && values.size() < VALUES) {
            id = values.size() + 1;
            values.put(value, id);
        }
        return id == null ? 0 : id;
    }

    @Override
    public long currentThreadKey() {
        return Thread.currentThread().getId();
    }

    @Override
    public boolean verifyVirtual(long threadId) {
        return threadId == Thread.currentThread().getId();
    }

    /** No: a wrong address would end the VM instead of failing a test. */
    @Override
    public boolean openMemory(Module module) {
        return false;
    }

    @Override
    public boolean wantsTasks() {
        return false;
    }

    @Override
    public void carryTasks(BinaryOperator<Object> carrier) {}

    @Override
    public long scopeThreshold() {
        return -1;
    }

    @Override
    public int scopeClosed(long startNanos, long endNanos, int slots, int changed) {
        return -1;
    }

    @Override
    public void observePauses(boolean more) {}

    @Override
    public long[] takePauses() {
        return null;
    }

    @Override
    public boolean observeNetwork(
            int kind, Function<Object, Consumer<Object>> observer, boolean on) {
        return false;
    }

    @Override
    public boolean prepareLabels() {
        return false;
    }

    @Override
    public void mark(String name, long startNanos, long endNanos) {}

    @Override
    public long sampleNanos() {
        return 0;
    }

    @Override
    public long[] milestones() {
        return new long[] {1, 2};
    }

    @Override
    public synchronized void count(int event) {
        counts[event]++;
    }

    @Override
    public synchronized String execute(String options) {
        if (options.equals("status")) {
            StringBuilder text = new StringBuilder("double");
            for (long count : counts) {
                text.append(' ').append(count);
            }
            return text.toString();
        }
        throw new IllegalArgumentException(
                "unknown option '" + options + "'; the double knows status");
    }

    public synchronized long counted(int event) {
        return counts[event];
    }
}
