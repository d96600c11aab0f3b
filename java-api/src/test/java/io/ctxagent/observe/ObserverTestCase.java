package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import io.ctxagent.ContextTestCase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.After;
import org.junit.Before;

/** A test that leaves neither an observer nor a mark. */
public abstract class ObserverTestCase extends ContextTestCase {
    static final long PATIENCE_SECONDS = 60;

    private final List<ContextObserver> observers = new ArrayList<>();

    @Before
    public final void clear() {
        Marks.clearMarks();
        Marks.clearMeasures();
    }

    @After
    public final void disconnect() {
        observers.forEach(ContextObserver::close);
        clear();
    }

    /** Skips the test where there are no virtual threads. */
    static Thread startVirtualThread(Runnable task) throws ReflectiveOperationException {
        assumeTrue("virtual threads", Runtime.version().feature() >= 21);
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    /** An observer that the end of the test disconnects. */
    final ContextObserver observer(ContextObserver.Callback callback) {
        return added(ContextObserver.create(callback));
    }

    /** One without a callback. */
    final ContextObserver observer() {
        return added(ContextObserver.create());
    }

    private ContextObserver added(ContextObserver observer) {
        observers.add(observer);
        return observer;
    }

    /** What a callback gets, for a test that waits for it. */
    static final class Received implements ContextObserver.Callback {
        private final BlockingQueue<Entry> entries = new LinkedBlockingQueue<>();

        @Override
        public void onEntries(EntryList list, ContextObserver observer) {
            list.forEach(entries::add);
        }

        Entry next() throws InterruptedException {
            Entry entry = entries.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertNotNull("no entry came", entry);
            return entry;
        }
    }

    /** Counts what an observer gets. */
    static final class Counted implements ContextObserver.Callback {
        final AtomicLong got = new AtomicLong();
        final AtomicLong dropped = new AtomicLong();

        @Override
        public void onEntries(EntryList entries, ContextObserver observer) {
            dropped.addAndGet(entries.dropped());
            add(entries.getEntries());
        }

        void add(List<Entry> entries) {
            got.addAndGet(entries.size());
        }

        /** Until so many were got or dropped. */
        void await(long entries) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (got.get() + dropped.get() < entries) {
                String state = got + " and " + dropped + " of " + entries;
                assertTrue(state, System.nanoTime() < end);
                Thread.onSpinWait();
            }
            assertEquals(entries, got.get() + dropped.get());
        }
    }
}
