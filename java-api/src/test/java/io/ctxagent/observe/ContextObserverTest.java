package io.ctxagent.observe;

import static io.ctxagent.observe.EntryType.FUNCTION;
import static io.ctxagent.observe.EntryType.MARK;
import static io.ctxagent.observe.EntryType.MEASURE;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.ctxagent.RecordingContext;
import io.ctxagent.internal.observe.EntryQueue;
import io.ctxagent.internal.observe.ObserverHub;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.Test;

public class ContextObserverTest extends ObserverTestCase {
    private static List<String> names(List<Entry> entries) {
        return entries.stream().map(Entry::name).collect(Collectors.toList());
    }

    @Test
    public void callbackGetsEntriesWithContextOnThreadOfItsOwn() throws Exception {
        Received received = new Received();
        Thread[] thread = new Thread[1];
        String[] context = new String[1];
        ContextObserver observer = observer((entries, self) -> {
            thread[0] = Thread.currentThread();
            context[0] = RecordingContext.describe();
            received.onEntries(entries, self);
        });
        try (RecordingContext c = RecordingContext.where("key0", "a").build()) {
            observer.observe(MARK);
            Marks.mark("first", "detail");
        }
        Entry entry = received.next();
        assertEquals("first", entry.name());
        assertEquals(MARK, entry.type());
        assertEquals("detail", entry.detail());
        assertEquals(Map.of("key0", "a"), entry.context());
        assertTrue(entry.duration().isZero());
        assertTrue(thread[0].isDaemon() && thread[0] != Thread.currentThread());
        assertEquals("{}", context[0]);
    }

    @Test
    public void observeReplacesTypesOrAddsOne() {
        ContextObserver observer = observer();
        observer.observe(MARK);
        observer.observe(MEASURE);
        Marks.mark("not observed any more");
        Marks.measure("measure");
        assertEquals(List.of("measure"), names(observer.takeRecords()));
        observer.observe(MARK, false);
        Marks.mark("mark");
        Marks.measure("measure");
        assertEquals(2, observer.takeRecords().size());
    }

    @Test
    public void bufferedEntriesComeFirst() {
        Marks.mark("before");
        Marks.mark("cleared");
        Marks.clearMarks("cleared");
        ContextObserver without = observer();
        without.observe(MARK, false);
        ContextObserver with = observer();
        with.observe(MARK, true);
        Marks.mark("after");
        assertEquals(List.of("after"), names(without.takeRecords()));
        assertEquals(List.of("before", "after"), names(with.takeRecords()));
        assertEquals(List.of(), with.takeRecords());
    }

    @Test
    public void takenRecordsDoNotReachCallback() throws Exception {
        Received received = new Received();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ContextObserver observer = observer((entries, self) -> {
            received.onEntries(entries, self);
            begun.countDown();
            assertTrue(goOn.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        });
        observer.observe(MARK);
        Marks.mark("first");
        assertTrue(begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        Marks.mark("taken");
        assertEquals(List.of("taken"), names(observer.takeRecords()));
        Marks.mark("last");
        goOn.countDown();
        assertEquals("first", received.next().name());
        assertEquals("last", received.next().name());
    }

    @Test
    public void listFindsEntriesByNameAndType() {
        EntryQueue queue = new EntryQueue(null);
        int both = 1 << MARK.ordinal() | 1 << MEASURE.ordinal();
        ObserverHub.connect(queue, both, false, List.of());
        Marks.mark("a");
        Marks.mark("b");
        Marks.measure("a", "b");
        EntryList list = new EntryList(ObserverHub.take(queue), 0);
        assertEquals(List.of("a", "b", "a"), names(list.getEntries()));
        assertEquals(2, list.getEntriesByName("a").size());
        assertEquals(MEASURE, list.getEntriesByName("a", MEASURE).get(0).type());
        assertEquals(List.of("a", "b"), names(list.getEntriesByType(MARK)));
        assertEquals(List.of(), list.getEntriesByType(FUNCTION));
        assertEquals(0, list.dropped());
        ObserverHub.connect(queue, 0, false, List.of());
    }

    @Test
    public void disconnectedObserverGetsNothingAndMayConnectAgain() {
        ContextObserver observer = observer();
        observer.disconnect();
        observer.observe(MARK);
        Marks.mark("dropped");
        observer.disconnect();
        observer.disconnect();
        assertFalse(ObserverHub.isObserved(MARK.ordinal()));
        Marks.mark("not observed");
        assertEquals(List.of(), observer.takeRecords());
        observer.observe(MARK);
        Marks.mark("observed");
        assertEquals(List.of("observed"), names(observer.takeRecords()));
    }

    @Test
    public void failingObserverIsDisconnectedAndHarmsNobody() throws Exception {
        observer((entries, self) -> {
                    throw new AssertionError("on purpose");
                })
                .observe(MARK);
        Received received = new Received();
        observer(received).observe(MEASURE);
        Marks.mark("fails");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (ObserverHub.isObserved(MARK.ordinal())) {
            assertTrue("it is still connected", System.nanoTime() < end);
            Thread.onSpinWait();
        }
        Marks.measure("goes on");
        assertEquals("goes on", received.next().name());
    }

    @Test
    public void blockedObserverDropsEntriesAndDelaysNobody() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Counted blocked = new Counted();
        observer((entries, self) -> {
                    blocked.onEntries(entries, self);
                    begun.countDown();
                    assertTrue(goOn.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
                })
                .observe(MARK);
        Marks.mark("blocks");
        assertTrue(begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        Received received = new Received();
        observer(received).observe(MEASURE);
        Marks.measure("delayed by nobody");
        assertEquals("delayed by nobody", received.next().name());
        // One by one, so that only the blocked observer has too many.
        Counted others = new Counted();
        ContextObserver other = observer(others);
        other.observe(MARK);
        int marks = EntryQueue.CAPACITY + 1_000;
        for (int i = 0; i < marks; i++) {
            Marks.mark("mark");
            if (i % 1_000 == 0) {
                others.add(other.takeRecords());
            }
        }
        others.add(other.takeRecords());
        others.await(marks);
        assertEquals(0, others.dropped.get());
        goOn.countDown();
        blocked.await(marks + 1);
        assertEquals(1_000, blocked.dropped.get());
    }

    @Test
    public void everyEntryOfManyThreadsIsTakenOrDropped() throws Exception {
        Counted counted = new Counted();
        ContextObserver observer = observer(counted);
        observer.observe(FUNCTION);
        int each = 20_000;
        Runnable call = Timed.runnable("call", () -> {});
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread thread = new Thread(() -> {
                for (int n = 0; n < each; n++) {
                    call.run();
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
        call.run();
        counted.await(8 * each + 1);
    }

    @Test
    public void observerMayObserveFromItsCallback() throws Exception {
        Received received = new Received();
        observer((entries, self) -> {
                    self.observe(MARK, MEASURE);
                    self.observe(FUNCTION, true);
                    received.onEntries(entries, self);
                })
                .observe(MARK);
        Marks.mark("first");
        assertEquals("first", received.next().name());
        Marks.measure("second");
        assertEquals("second", received.next().name());
    }

    @Test
    public void wrongUseIsRefusedWithReason() {
        assertThrows(NullPointerException.class, () -> ContextObserver.create(null));
        ContextObserver observer = observer();
        Exception none = assertThrows(IllegalArgumentException.class, () -> observer.observe());
        assertTrue(none.getMessage(), none.getMessage().contains("MARK"));
        assertThrows(NullPointerException.class, () -> observer.observe((EntryType) null));
        assertEquals(
                "all but those that a VM may lack",
                EnumSet.allOf(EntryType.class),
                ContextObserver.supportedEntryTypes());
        for (int i = 0; i < ObserverHub.MAX_OBSERVERS; i++) {
            observer().observe(MARK);
        }
        Exception tooMany = assertThrows(IllegalStateException.class, () -> observer.observe(MARK));
        assertTrue(tooMany.getMessage(), tooMany.getMessage().contains("64"));
    }

    @Test
    public void sameTypeTwiceIsOneEntry() {
        ContextObserver observer = observer();
        observer.observe(MARK, MARK);
        observer.observe(MARK, false);
        Marks.mark("once");
        assertEquals(List.of("once"), names(observer.takeRecords()));
    }
}
