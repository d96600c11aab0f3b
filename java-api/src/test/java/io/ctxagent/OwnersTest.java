package io.ctxagent;

import static org.junit.Assert.assertEquals;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.RecentValues;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.Test;

/**
 * Owners that share a thread and know nothing of each other, as an application and a tracer do:
 * whatever they do in whatever order, each one's label is there as long as it should be, and no
 * longer. All orders against a model.
 */
public class OwnersTest extends ContextTestCase {
    private static final String[] VALUES = new String[32];

    static {
        for (int i = 0; i < VALUES.length; i++) {
            VALUES[i] = "v" + i;
        }
    }

    /** What an attribute should have: the value of the scope opened last of those that are open. */
    private static final class Model {
        final List<Integer> scopes = new ArrayList<>();
        final List<Integer> values = new ArrayList<>();
        int put;

        void open(int scope, int value) {
            scopes.add(scope);
            values.add(value);
        }

        void close(int scope) {
            int at = scopes.indexOf(scope);
            if (at >= 0) {
                scopes.remove(at);
                values.remove(at);
            }
        }

        void put(int value) {
            scopes.clear();
            values.clear();
            put = value;
        }

        int value() {
            return scopes.isEmpty() ? put : values.get(values.size() - 1);
        }
    }

    /** An open scope or activation. */
    private static final class Open {
        final AutoCloseable scope;
        final int number;

        Open(AutoCloseable scope, int number) {
            this.scope = scope;
            this.number = number;
        }
    }

    private static final int OPEN = 0;
    private static final int CLOSE_LAST = 1;
    private static final int CLOSE_FIRST = 2;
    private static final int PUT = 3;
    private static final int REMOVE = 4;
    private static final int ACTIVATE = 5;
    private static final int ACTIVATE_EXACTLY = 6;
    private static final int KINDS = 7;

    /** Some owners at work on one thread, each with an attribute. */
    private final class World {
        private final RecordingContextKey[] keys;
        private final Model[] models;
        private final int[] slots;
        private final RecordingContext.Snapshot[] snapshots;
        private final int[] ids = new int[VALUES.length];
        private final List<List<Open>> open = new ArrayList<>();
        private int number;
        /** Who closes, or {@code null}: the owner. */
        private final ExecutorService closer;

        World(RecordingContextKey... keys) throws Exception {
            this(null, keys);
        }

        World(ExecutorService closer, RecordingContextKey... keys) throws Exception {
            this.closer = closer;
            this.keys = keys;
            models = new Model[8];
            for (int i = 0; i < models.length; i++) {
                models[i] = new Model();
            }
            slots = new int[keys.length];
            snapshots = new RecordingContext.Snapshot[keys.length];
            for (int i = 0; i < keys.length; i++) {
                slots[i] = keys[i].slot();
                open.add(new ArrayList<>());
                snapshots[i] = RecordingContext.where(keys[i], VALUES[31 - i])
                        .call(RecordingContext::snapshot);
            }
            for (int i = 1; i < ids.length; i++) {
                ids[i] = RecentValues.idOf(keys[0].place(), VALUES[i]);
            }
        }

        boolean can(int owner, int kind) {
            return kind != CLOSE_LAST && kind != CLOSE_FIRST || !open.get(owner).isEmpty();
        }

        void act(int owner, int kind) throws Exception {
            number++;
            int value = 1 + number % 24;
            List<Open> mine = open.get(owner);
            Model model = models[slots[owner]];
            switch (kind) {
                case OPEN:
                    mine.add(new Open(
                            RecordingContext.where(keys[owner], VALUES[value]).build(), number));
                    model.open(number, value);
                    break;
                case CLOSE_LAST:
                    close(mine.remove(mine.size() - 1));
                    break;
                case CLOSE_FIRST:
                    close(mine.remove(0));
                    break;
                case PUT:
                    RecordingContext.put(keys[owner], VALUES[value]);
                    model.put(value);
                    break;
                case REMOVE:
                    RecordingContext.remove(keys[owner]);
                    model.put(0);
                    break;
                case ACTIVATE:
                    mine.add(new Open(snapshots[owner].activate(), number));
                    model.open(number, 31 - owner);
                    break;
                default:
                    mine.add(new Open(snapshots[owner].activateExactly(), number));
                    for (int slot = 0; slot < models.length; slot++) {
                        models[slot].open(number, slot == slots[owner] ? 31 - owner : 0);
                    }
            }
        }

        void close(Open each) throws Exception {
            if (closer != null && each.number % 3 == 0) {
                closer.submit(() -> {
                            each.scope.close();
                            return null;
                        })
                        .get();
            } else {
                each.scope.close();
            }
            for (Model model : models) {
                model.close(each.number);
            }
        }

        void check(Object what) {
            if (keys[0] == RAW) {
                // Ids of raw values say where they lie.
                checkText(what);
                return;
            }
            long block = Slab.find(CurrentThread.key());
            for (int i = 0; i < slots.length; i++) {
                int seen = block == Slab.NONE ? 0 : Slab.id(block, slots[i]);
                if (seen != ids[models[slots[i]].value()]) {
                    assertEquals(
                            what + ", owner " + i,
                            VALUES[models[slots[i]].value()],
                            RecordingContext.describe());
                }
            }
        }

        private void checkText(Object what) {
            String text = RecordingContext.describe();
            for (int i = 0; i < slots.length; i++) {
                int value = models[slots[i]].value();
                String wanted = keys[i].name() + "=" + VALUES[value];
                if (value != 0
                        ? !text.matches(".*\\b" + wanted + "\\b.*")
                        : text.contains(keys[i].name())) {
                    assertEquals(what + ", owner " + i, wanted, text);
                }
            }
        }

        /** Closes all, those opened first first, and takes away what was put. */
        void end(Object what) throws Exception {
            for (List<Open> mine : open) {
                while (!mine.isEmpty()) {
                    close(mine.remove(0));
                    check(what);
                }
            }
            for (int i = 0; i < keys.length; i++) {
                RecordingContext.remove(keys[i]);
                models[slots[i]].put(0);
            }
            check(what);
            number = 0;
        }
    }

    /** All sequences of {@code depth} actions of two owners. */
    private void allOrders(int depth, RecordingContextKey one, RecordingContextKey other)
            throws Exception {
        World world = new World(one, other);
        int alphabet = 2 * KINDS;
        int[] actions = new int[depth];
        long sequences = 0;
        while (true) {
            int done = 0;
            while (done < depth && world.can(actions[done] % 2, actions[done] / 2)) {
                world.act(actions[done] % 2, actions[done] / 2);
                done++;
                // The shorter ones were checked with the sequence before.
                if (done == depth || actions[depth - 1] == 0) {
                    world.check(new Shown(actions));
                }
            }
            world.end(new Shown(actions));
            sequences++;
            // The next one; those that go on after what cannot be done are left out.
            int at = Math.min(done, depth - 1);
            for (int i = at + 1; i < depth; i++) {
                actions[i] = 0;
            }
            while (at >= 0 && ++actions[at] == alphabet) {
                actions[at--] = 0;
            }
            if (at < 0) {
                System.out.println(sequences + " sequences");
                return;
            }
        }
    }

    /** Text of actions, made only where something is wrong. */
    private static final class Shown {
        private final int[] actions;

        Shown(int[] actions) {
            this.actions = actions;
        }

        @Override
        public String toString() {
            String[] kinds = {
                "open", "close last", "close first", "put", "remove", "activate", "activate exactly"
            };
            StringBuilder text = new StringBuilder();
            for (int action : actions) {
                text.append(action % 2).append(' ').append(kinds[action / 2]).append(", ");
            }
            return text.toString();
        }
    }

    @Test
    public void twoOwnersOfTwoAttributesInAllOrders() throws Exception {
        allOrders(6, A, B);
    }

    @Test
    public void twoOwnersOfOneAttributeInAllOrders() throws Exception {
        allOrders(5, A, A);
    }

    private void atRandom(int sequences, long seed, RecordingContextKey... keys) throws Exception {
        World world = new World(keys);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < sequences; i++) {
            int length = 4 + random.nextInt(12);
            for (int step = 0; step < length; step++) {
                int owner = random.nextInt(keys.length);
                int kind = random.nextInt(KINDS);
                if (world.can(owner, kind)) {
                    world.act(owner, kind);
                    world.check("sequence " + i + ", step " + step);
                }
            }
            world.end("sequence " + i);
        }
    }

    @Test
    public void threeOwnersAtRandom() throws Exception {
        atRandom(500_000, 1, A, B, KEYS[2]);
        atRandom(500_000, 2, A, B, A);
    }

    @Test
    public void threeOwnersOnAVirtualThread() throws Exception {
        inVirtualThread(() -> atRandom(100_000, 3, A, B, A));
    }

    private void rawAtRandom(int sequences, ExecutorService closer) throws Exception {
        RecordingContextKey otherRaw = new RecordingContextKey.RawKey("key6");
        try {
            World world = new World(closer, RAW, otherRaw, A);
            SplittableRandom random = new SplittableRandom(sequences);
            for (int i = 0; i < sequences; i++) {
                int length = 4 + random.nextInt(8);
                for (int step = 0; step < length; step++) {
                    int owner = random.nextInt(3);
                    int kind = random.nextInt(KINDS);
                    if (world.can(owner, kind)) {
                        world.act(owner, kind);
                        world.check("sequence " + i + ", step " + step);
                    }
                }
                world.end("sequence " + i);
            }
        } finally {
            RecordingContextKey.reserve(KEYS[6]);
        }
    }

    @Test
    public void ownersOfRawValuesAtRandom() throws Exception {
        // Stays open, so that bytes of raw values must be free without waiting for the last scope.
        try (RecordingContext around = RecordingContext.where(KEYS[3], "around").build()) {
            rawAtRandom(20_000, null);
        }
        assertEquals(0, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void ownersWhoseScopesAnotherThreadClosesAtRandom() throws Exception {
        ExecutorService closer = Executors.newSingleThreadExecutor();
        try {
            rawAtRandom(5_000, closer);
        } finally {
            closer.shutdown();
        }
        assertEquals(0, counted(Misuse.ALL_ENDED));
    }
}
