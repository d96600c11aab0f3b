package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.internal.observe.EntryQueue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.Test;

public class ContextEntriesTest extends ObserverTestCase {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

    @Test
    public void closedScopeIsAnEntryWithItsAttributes() {
        ContextObserver observer = observer();
        observer.observe(EntryType.CONTEXT);
        long before = System.nanoTime();
        try (RecordingContext outer = RecordingContext.where("key0", "a").build()) {
            try (RecordingContext inner = RecordingContext.where("key1", "b")
                    .where(RecordingContextKey.raw("key7"), TRACE)
                    .build()) {
                assertEquals("both are open", List.of(), observer.takeRecords());
            }
        }
        long after = System.nanoTime();
        List<Entry> entries = observer.takeRecords();
        assertEquals(2, entries.size());
        Entry outer = entries.get(0);
        Entry inner = entries.get(1);
        assertEquals("key0", outer.name());
        assertEquals(Map.of("key0", "a"), outer.context());
        assertEquals("key1", inner.name());
        assertEquals(Map.of("key0", "a", "key1", "b", "key7", TRACE), inner.context());
        assertEquals(0, ((ContextDetail) inner.detail()).samples());
        long end = outer.startNanos() + outer.duration().toNanos();
        assertTrue(before <= outer.startNanos() && outer.startNanos() <= inner.startNanos());
        assertTrue(inner.startNanos() + inner.duration().toNanos() <= end && end <= after);
    }

    @Test
    public void eachWayToOpenScopesIsSeen() throws Exception {
        ContextObserver observer = observer();
        observer.observe(EntryType.CONTEXT);
        RecordingContext.Builder builder = RecordingContext.where("key0", "a");
        builder.run(() -> {});
        assertEquals("r", builder.call(() -> "r"));
        RecordingContext.Snapshot snapshot;
        Runnable task;
        try (RecordingContext c = builder.build()) {
            snapshot = RecordingContext.snapshot();
            task = RecordingContext.wrap(() -> {});
        }
        snapshot.activate().close();
        task.run();
        List<Entry> entries = observer.takeRecords();
        assertEquals(5, entries.size());
        for (Entry entry : entries) {
            assertEquals("key0", entry.name());
            assertEquals(Map.of("key0", "a"), entry.context());
        }
    }

    @Test
    public void scopeOutsideOfTheObservationIsNoEntry() {
        ContextObserver observer = observer();
        RecordingContext before = RecordingContext.where("key0", "a").build();
        observer.observe(EntryType.CONTEXT);
        before.close();
        RecordingContext twice = RecordingContext.where("key0", "a").build();
        twice.close();
        twice.close();
        RecordingContext after = RecordingContext.where("key0", "a").build();
        assertEquals(1, observer.takeRecords().size());
        observer.disconnect();
        after.close();
        assertEquals(List.of(), observer.takeRecords());
    }

    @Test
    public void entryHasWhatTheThreadUsed() throws Exception {
        ContextObserver observer = observer();
        observer.observe(EntryType.CONTEXT);
        long wait = TimeUnit.MILLISECONDS.toNanos(20);
        byte[] kept;
        try (RecordingContext c = RecordingContext.where("key0", "a").build()) {
            kept = new byte[1 << 20];
            long end = System.nanoTime() + wait;
            for (long left = wait; left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
        Entry entry = observer.takeRecords().get(0);
        ContextDetail detail = (ContextDetail) entry.detail();
        long allocated = detail.allocatedBytes();
        assertTrue("" + allocated, kept.length <= allocated && allocated < 2 * kept.length);
        assertEquals(entry.duration(), detail.cpu().plus(detail.waiting()));
        assertTrue(detail.toString(), detail.waiting().toNanos() >= wait / 2);
    }

    /** Each scope has its allocation; CPU time has as many as it may cost. */
    @Test
    public void tooManyScopesAreNotAllMeasured() {
        ContextObserver observer = observer();
        observer.observe(EntryType.CONTEXT);
        long before = System.nanoTime();
        int all = 20_000;
        for (int i = 0; i < all; i++) {
            RecordingContext.where("key0", "a").build().close();
        }
        long nanos = System.nanoTime() - before;
        List<Entry> entries = observer.takeRecords();
        assertEquals(all, entries.size());
        assertNotNull("the first", ((ContextDetail) entries.get(0).detail()).cpu());
        long measured = entries.stream()
                .map(entry -> (ContextDetail) entry.detail())
                .peek(detail -> assertTrue(detail.allocatedBytes() >= 0))
                .peek(detail -> assertEquals(detail.cpu() == null, detail.waiting() == null))
                .filter(detail -> detail.cpu() != null)
                .count();
        long paid = ScopeCosts.BURST + nanos / ScopeCosts.PERIOD_NANOS;
        assertTrue(measured + " of " + paid, 0 < measured && measured <= paid + 1);
        assertTrue(measured + " of " + all, measured < all);
    }

    @Test
    public void ofVirtualThreadsOnlySamplesAreKnown() throws Exception {
        ContextObserver observer = observer();
        observer.observe(EntryType.CONTEXT);
        startVirtualThread(() -> RecordingContext.where("key0", "a").build().close())
                .join();
        ContextDetail detail = (ContextDetail) observer.takeRecords().get(0).detail();
        assertEquals(-1, detail.allocatedBytes());
        assertNull(detail.cpu());
        assertNull(detail.waiting());
        assertEquals("0 samples", detail.toString());
    }

    /** A million scopes in four threads: each is an entry, or dropped. */
    @Test
    public void everyScopeIsAnEntryOrDropped() throws Exception {
        Counted counted = new Counted();
        ContextObserver observer = observer(counted);
        observer.observe(EntryType.CONTEXT);
        int each = 250_000;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                for (int n = 0; n < each; n++) {
                    RecordingContext.where("key0", "a").build().close();
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        // Now there is room; and a batch tells what was dropped before it.
        counted.add(observer.takeRecords());
        RecordingContext.where("key0", "a").build().close();
        counted.await(4 * each + 1);
    }

    /** More threads at a time, and after each other, than have a part of the buffer alone. */
    @Test
    public void scopesOfManyThreadsHaveTheirOwnValues() throws Exception {
        ContextObserver observer = observer();
        observer.observe(EntryType.CONTEXT);
        Set<String> expected = new HashSet<>();
        for (int round = 0; round < 3; round++) {
            List<Thread> threads = new ArrayList<>();
            CountDownLatch begin = new CountDownLatch(1);
            for (int i = 0; i < 300; i++) {
                String value = round + "-" + i;
                expected.add(value);
                Thread thread = new Thread(() -> {
                    try {
                        begin.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    for (int n = 0; n < 3; n++) {
                        RecordingContext.where(RecordingContextKey.raw("key7"), value)
                                .build()
                                .close();
                    }
                });
                thread.start();
                threads.add(thread);
            }
            begin.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        List<String> values = observer.takeRecords().stream()
                .map(entry -> entry.context().get("key7"))
                .collect(Collectors.toList());
        assertEquals(3 * expected.size(), values.size());
        assertEquals(expected, new HashSet<>(values));
    }

    /** Of those that come when it is full not one more. */
    @Test
    public void observerKeepsAsManyScopesAsItMay() {
        ContextObserver full = observer();
        full.observe(EntryType.CONTEXT);
        ContextObserver other = observer();
        other.observe(EntryType.CONTEXT);
        int more = 1_000;
        int taken = 0;
        for (int i = 0; i < EntryQueue.CAPACITY + more; i++) {
            RecordingContext.where("key0", "a").build().close();
            if (i % 1_000 == 0) {
                taken += other.takeRecords().size();
            }
        }
        taken += other.takeRecords().size();
        assertEquals(EntryQueue.CAPACITY + more, taken);
        List<Entry> kept = full.takeRecords();
        assertEquals(EntryQueue.CAPACITY, kept.size());
        long before = kept.get(0).startNanos();
        for (Entry entry : kept) {
            assertTrue("in their order", before - entry.startNanos() <= 0);
            before = entry.startNanos();
        }
    }
}
