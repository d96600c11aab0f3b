package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.ScopeFinding.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** What a watch finds about scopes that are used wrongly, and about those that are not. */
public class StrictContextsTest extends ContextTestCase {
    private static final Duration LONG = Duration.ofMinutes(1);

    private StrictContexts watch;

    @Before
    public void watch() {
        watch = StrictContexts.watch();
    }

    @After
    public void stop() {
        watch.close();
    }

    private List<Kind> found(Duration patience) {
        return watch.takeFindings(patience).stream()
                .map(ScopeFinding::kind)
                .collect(Collectors.toList());
    }

    private static RecordingContext open() {
        return RecordingContext.where(A, "a").build();
    }

    @Test
    public void scopesInOrderAreNoFinding() throws Exception {
        try (RecordingContext outer = open();
                RecordingContext inner = open()) {
            RecordingContext.Snapshot s = RecordingContext.snapshot();
            inThread(() -> s.activate().close());
            RecordingContext.where(B, "b").run(() -> {});
            RecordingContext.wrap(() -> {}).run();
            Labels.call(() -> 1, "key1", "b");
            assertEquals("not while their method runs", List.of(), found(Duration.ZERO));
        }
        assertEquals(List.of(), found(LONG));
    }

    private static RecordingContext left;

    private static void leave() {
        left = open();
    }

    @Test
    public void scopeWhoseMethodsReturnedIsLeftOpen() {
        leave();
        List<ScopeFinding> findings = watch.takeFindings(LONG);
        left.close();
        assertEquals(1, findings.size());
        assertEquals(Kind.LEFT_OPEN, findings.get(0).kind());
        assertEquals("open", findings.get(0).opened().get(0).getMethodName());
        assertEquals(List.of(), findings.get(0).closed());
        String text = findings.get(0).toString();
        assertTrue(text, text.startsWith("LEFT_OPEN: scope opened by Thread["));
        assertTrue(text, text.contains("\n    at io.ctxagent.StrictContextsTest.open("));
        assertEquals("reported once", List.of(), found(Duration.ZERO));
    }

    /** As the only event loop of an application, which runs all the time. */
    @Test
    public void scopeThatNobodyHasIsLeftOpenWhileCallerRuns() {
        open();
        assertEquals(List.of(Kind.LEFT_OPEN), found(LONG));
        open().close();
        RecordingContext.put(A, null);
    }

    @Test
    public void scopeOfEndedThreadIsLeftOpen() throws Exception {
        inThread(StrictContextsTest::open);
        String text = watch.takeFindings(LONG).toString();
        assertTrue(text, text.contains("LEFT_OPEN") && text.contains("its thread has ended"));
    }

    @Test
    public void activationThatTaskLeavesToPoolIsLeftOpen() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        try {
            Thread worker = pool.submit(() -> {
                        RecordingContext.snapshot().activate();
                        return Thread.currentThread();
                    })
                    .get();
            while (worker.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            String text = watch.takeFindings(Duration.ZERO).toString();
            assertTrue(text, text.contains("LEFT_OPEN") && text.contains("what it does has"));
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    public void openScopeOfVirtualThreadIsNoFindingUntilItsMethodReturns() throws Exception {
        CountDownLatch isOpen = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread thread = virtualThread(() -> {
            try (RecordingContext c = RecordingContext.where(A, "a").build()) {
                isOpen.countDown();
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            open();
        });
        thread.start();
        isOpen.await();
        assertEquals(List.of(), found(Duration.ZERO));
        go.countDown();
        thread.join();
        assertEquals(List.of(Kind.LEFT_OPEN), found(LONG));
    }

    /** As a filter that opens in one callback and closes in the next one. */
    @Test
    public void scopeThatOtherThreadClosesInTimeIsNoFinding() throws Exception {
        CountDownLatch isOpen = new CountDownLatch(1);
        Thread test = Thread.currentThread();
        Thread other = new Thread(() -> {
            leave();
            isOpen.countDown();
            while (!waitsForClose(test)) {
                Thread.onSpinWait();
            }
            left.close();
        });
        other.start();
        isOpen.await();
        assertEquals(List.of(), found(LONG));
        other.join();
    }

    private static boolean waitsForClose(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING
                && Arrays.stream(thread.getStackTrace())
                        .anyMatch(f -> f.getMethodName().equals("awaitClose"));
    }

    @Test
    public void closeOnOtherThreadIsFoundWithBothStacks() throws Exception {
        RecordingContext c = open();
        inThread(c::close);
        ScopeFinding finding = watch.takeFindings(LONG).get(0);
        assertEquals(Kind.CLOSED_ON_OTHER_THREAD, finding.kind());
        assertEquals("open", finding.opened().get(0).getMethodName());
        String text = finding.toString();
        assertTrue(text, text.contains("\n  closed by Thread["));
        assertTrue(text, text.contains("at io.ctxagent.ContextTestCase"));
        // The owner takes note of it.
        open().close();
    }

    @Test
    public void wrongOrderAndSecondCloseAreFound() {
        RecordingContext outer = RecordingContext.where(A, "a").build();
        RecordingContext middle = RecordingContext.where(B, "b").build();
        RecordingContext inner = RecordingContext.where(A, "c").build();
        middle.close();
        inner.close();
        outer.close();
        assertEquals(List.of(Kind.CLOSED_OUT_OF_ORDER), found(LONG));
        outer.close();
        assertEquals(List.of(Kind.CLOSED_TWICE), found(LONG));
    }

    @Test
    public void scopesFromBeforeAreNotWatched() {
        watch.close();
        RecordingContext before = open();
        watch = StrictContexts.watch();
        before.close();
        before.close();
        assertEquals(List.of(), found(LONG));
    }

    @Test
    public void innerWatchLeavesScopesOfOuterOneAlone() {
        leave();
        try (StrictContexts inner = StrictContexts.watch()) {
            assertEquals(List.of(), inner.takeFindings(Duration.ZERO));
            inner.close();
            assertEquals(List.of(), inner.takeFindings(Duration.ZERO));
        }
        assertEquals(List.of(Kind.LEFT_OPEN), found(Duration.ZERO));
        left.close();
    }

    @Test
    public void onlySoManyScopesAreWatched() {
        List<RecordingContext> all = new ArrayList<>();
        for (int i = 0; i < 10_001; i++) {
            all.add(open());
        }
        for (int i = all.size(); i-- > 0; ) {
            all.get(i).close();
        }
        assertEquals(1, watch.dropped());
        assertEquals(List.of(), found(Duration.ZERO));
        for (RecordingContext c : all) {
            c.close();
        }
        assertEquals(1_000, found(Duration.ZERO).size());
        assertEquals(1 + 9_000, watch.dropped());
    }

    @Test
    public void interruptedTestDoesNotWait() throws Exception {
        inThread(StrictContextsTest::open);
        Thread.currentThread().interrupt();
        assertEquals(List.of(Kind.LEFT_OPEN), found(LONG));
        assertTrue(Thread.interrupted());
    }
}
