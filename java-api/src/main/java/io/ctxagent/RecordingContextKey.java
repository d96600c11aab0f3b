package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.agent.SlotPlace;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.AttributeNames;
import io.ctxagent.internal.intern.BoundKey;
import io.ctxagent.internal.intern.RecentValues;
import io.ctxagent.internal.intern.ValueIds;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names an attribute of the context. Keep keys in {@code static final} fields:
 *
 * <pre>{@code
 * private static final RecordingContextKey TENANT = RecordingContextKey.forName("tenant");
 * }</pre>
 *
 * <p>A recording has eight attributes. A key takes one of them when it is first used with the agent
 * present, not when it is made. Keys that come ninth and later are inert: setting them does nothing
 * but is counted in the recording. A name keeps its place for the life of the VM.
 *
 * <p>Threads: keys are immutable to their users and may be shared freely. Without the agent: keys
 * are made and checked as with it, and do nothing.
 *
 * @since 0.1
 */
public abstract sealed class RecordingContextKey {
    private static final int UNBOUND = -2;
    private static final int INERT = -1;

    private final String name;
    /** As {@link SlotPlace} gives it, or one of the above. */
    private int place = UNBOUND;

    RecordingContextKey(String name) {
        this.name = name;
    }

    /**
     * Returns the key with the given name. Its values are interned: right for values to group by,
     * such as an endpoint or a tenant. A key that turns out to have very many values is written raw
     * from then on, as if made by {@link #raw}.
     *
     * <p>Cost: a hash look-up; do it once. Without the agent: the same.
     *
     * @param name 1 to 63 ASCII letters, digits, {@code _}, {@code .}, {@code -}, beginning with a
     *     letter; not {@code null}
     * @return the key, not {@code null}; the same one for the same name, among the first 1024 names
     * @throws IllegalArgumentException if the name is empty, too long, has other characters, or is
     *     the name of a column that samples have anyway, such as {@code startTime} or {@code state}
     */
    public static RecordingContextKey forName(String name) {
        return of(name, false);
    }

    /**
     * Returns the key with the given name and declares that its values are nearly all different,
     * such as request ids: they are written into the thread's block as they are and never kept. All
     * raw values of the scopes that are open on a thread share 64 bytes of UTF-8, those that an
     * inner scope replaced included; a longer value is cut, and one that does not fit is recorded
     * as {@code (other)}. The id of a trace or a span, 32 or 16 lower-case hexadecimal digits,
     * takes half of its length.
     *
     * @param name as for {@link #forName}
     * @return the key, not {@code null}; the one that {@link #forName} returns, among the first
     *     1024 names, which is raw from now on
     * @throws IllegalArgumentException as {@link #forName}
     */
    public static RecordingContextKey raw(String name) {
        RecordingContextKey key = of(name, true);
        key.demote();
        return key;
    }

    /**
     * {@link #forName} for a name that is at hand each time: the shorthands of {@link
     * RecordingContext}.
     */
    static RecordingContextKey recent(String name) {
        Objects.requireNonNull(name, "the name of a context key is null");
        return KeyTable.get().recent(name);
    }

    private static RecordingContextKey of(String name, boolean raw) {
        Objects.requireNonNull(name, "the name of a context key is null");
        return KeyTable.get().key(name, raw);
    }

    /**
     * Returns whether the context of the current thread has a value for this key. It is the only
     * question that this API answers about the context: it is there for recordings, not to pass
     * data around. Where another thread closed a context and it is not certain what is open since,
     * the answer is no, as samples then carry no context.
     *
     * <p>Cost: a few loads, no allocation. Without the agent: {@code false}.
     *
     * @return whether this key has a value here and now
     */
    public boolean isBound() {
        if (place < 0 || !ContextSupport.isOn()) {
            return false;
        }
        long block = CurrentBlock.forReading(CurrentThread.key());
        return block != Slab.NONE && Slab.id(block, slotIfAny()) != 0;
    }

    /**
     * Returns the name.
     *
     * @return the name, not {@code null}
     */
    public String name() {
        return name;
    }

    /**
     * The name and the place: {@code tenant (slot 1)}, {@code tenant (not used yet)}, {@code tenant
     * (inert: no slot left)}.
     */
    @Override
    public String toString() {
        return name
                + (place >= 0
                        ? " (slot " + slotIfAny() + ")"
                        : place == UNBOUND ? " (not used yet)" : " (inert: no slot left)");
    }

    /** The slot, or a negative number if it has none so far. */
    int slotIfAny() {
        int p = place;
        return p >= 0 ? SlotPlace.slot(p) : p;
    }

    /**
     * The slot, taken at the first call; -1 and counted if none was left. Only while the agent is
     * there.
     */
    int slot() {
        int p = place();
        return p >= 0 ? SlotPlace.slot(p) : p;
    }

    /** {@link #slot} as a {@link SlotPlace}. */
    int place() {
        int p = place;
        return p >= 0 ? p : bind();
    }

    private int bind() {
        if (place == UNBOUND) {
            ContextProviders.run();
            take(Math.max(Bridge.agent().bindKey(name), INERT));
        }
        int p = place;
        if (p < 0) {
            Bridge.count(Misuse.NO_SLOT);
        }
        return p;
    }

    /**
     * Takes slots for all of these keys, or for none if they do not all fit. Only while the agent
     * is there.
     */
    static boolean reserve(RecordingContextKey... keys) {
        String[] names = new String[keys.length];
        for (int i = 0; i < keys.length; i++) {
            names[i] = keys[i].name;
        }
        int[] slots = Bridge.agent().bindKeys(names);
        for (int i = 0; slots != null && i < keys.length; i++) {
            keys[i].take(slots[i]);
        }
        return slots != null;
    }

    private void take(int s) {
        int taken = s;
        if (s >= 0) {
            RecentValues.bind(s, (BoundKey) this);
            taken = SlotPlace.of(s);
            // Who sees the slot finds the key by it.
            VarHandle.storeStoreFence();
        }
        place = taken;
    }

    /** For the warm-up: loads what the first use of a key needs. */
    static void loadClasses() {
        String name = "warmUp";
        KeyTable.get();
        AttributeNames.check(name);
        new InternedKey(name).idOf(null);
        new RawKey(name).idOf(null);
    }

    // The next two differ with the class of the key, not with a field, on purpose (rule 7 of
    // CompilerRules). Neither gets the builder: where the key is no constant they may stay calls.

    /** The slot at {@code place} and the value's id, or in place of that {@code TO_RAW}. */
    abstract long entry(int place, String value);

    /**
     * Whether the id of {@code entry} is to be written as it is. Both kinds have the same code,
     * each for itself: the compiler keeps a branch's profile by method.
     */
    abstract boolean isPlain(long entry);

    /** From now on all values are written raw. */
    abstract void demote();

    /** A key whose values have ids in the agent's dictionary, until they are too many. */
    static final class InternedKey extends RecordingContextKey implements BoundKey {
        private final ValueIds values = new ValueIds();

        InternedKey(String name) {
            super(name);
        }

        @Override
        public int idOf(String value) {
            try {
                return values.idOf(slotIfAny(), value);
            } catch (OutOfMemoryError full) {
                // Written raw this time.
                return TO_RAW;
            }
        }

        @Override
        long entry(int place, String value) {
            long entry = RecentValues.find(place, value);
            return (int) entry >= 0 ? entry : RecentValues.entryOfOther(place, value);
        }

        @Override
        boolean isPlain(long entry) {
            return (int) entry >= 0;
        }

        @Override
        void demote() {
            values.demote(slotIfAny());
        }
    }

    /** A key whose values are written raw from the beginning. */
    static final class RawKey extends RecordingContextKey implements BoundKey {
        RawKey(String name) {
            super(name);
        }

        @Override
        public int idOf(String value) {
            return value == null ? 0 : TO_RAW;
        }

        @Override
        long entry(int place, String value) {
            return SlotPlace.entry(place, idOf(value));
        }

        @Override
        boolean isPlain(long entry) {
            return (int) entry >= 0;
        }

        @Override
        void demote() {
            // It is raw.
        }
    }

    /**
     * All keys, by name. Made at the first use, with the agent or without, and again if
     * memory or stack did not suffice, see {@link ContextSupport}.
     */
    private static final class KeyTable {
        /** Names beyond this number get keys that are not kept: they cannot fill the heap. */
        private static final int MAX_NAMES = 1_024;

        private static final int RECENT = 64;

        private static volatile KeyTable instance;

        private final ConcurrentHashMap<String, RecordingContextKey> keys =
                new ConcurrentHashMap<>();
        /** Direct-mapped front of {@link #keys}; racy, keys are immutable in what counts here. */
        private final RecordingContextKey[] recent = new RecordingContextKey[RECENT];

        private KeyTable() {}

        static KeyTable get() {
            KeyTable t = instance;
            return t != null ? t : make();
        }

        private static synchronized KeyTable make() {
            if (instance == null) {
                instance = new KeyTable();
            }
            return instance;
        }

        /** The key with this name; {@code raw}: if it is new, it is raw. */
        RecordingContextKey key(String name, boolean raw) {
            RecordingContextKey key = keys.get(name);
            if (key != null) {
                return key;
            }
            AttributeNames.check(name);
            key = raw ? new RawKey(name) : new InternedKey(name);
            RecordingContextKey before =
                    keys.size() >= MAX_NAMES ? null : keys.putIfAbsent(name, key);
            return before != null ? before : key;
        }

        /** {@link #key} for a name that is used again and again. */
        RecordingContextKey recent(String name) {
            int place = name.hashCode() & RECENT - 1;
            RecordingContextKey key = recent[place];
            if (key != null && key.name().equals(name)) {
                return key;
            }
            key = key(name, false);
            recent[place] = key;
            return key;
        }
    }
}
