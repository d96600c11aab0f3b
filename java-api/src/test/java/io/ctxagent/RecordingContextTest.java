package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.Slab;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.Test;

/** Scopes as they should be used. */
public class RecordingContextTest extends ContextTestCase {
    @Test
    public void scopeSetsAndRestoresAttributes() {
        try (RecordingContext outer =
                RecordingContext.where(A, "a1").where(B, "b1").build()) {
            assertEquals("{key0=a1, key1=b1}", RecordingContext.describe());
            try (RecordingContext inner = RecordingContext.where(A, "a2").build()) {
                assertEquals("{key0=a2, key1=b1}", RecordingContext.describe());
            }
            assertEquals("{key0=a1, key1=b1}", RecordingContext.describe());
        }
    }

    @Test
    public void nullRemovesAnAttributeWithinItsScope() {
        try (RecordingContext outer =
                RecordingContext.where(A, "a").where(B, "b").build()) {
            try (RecordingContext inner = RecordingContext.where(A, null).build()) {
                assertEquals("{key1=b}", RecordingContext.describe());
                assertFalse(A.isBound());
                assertTrue(B.isBound());
            }
            assertTrue(A.isBound());
        }
    }

    @Test
    public void namesWorkLikeKeys() {
        try (RecordingContext c =
                RecordingContext.where("key0", "a").where("key1", "b").build()) {
            assertEquals("{key0=a, key1=b}", RecordingContext.describe());
        }
    }

    @Test
    public void allEightAttributesFit() {
        RecordingContext.Builder b = RecordingContext.builder();
        for (RecordingContextKey key : KEYS) {
            b.where(key, "v" + key.slot());
        }
        try (RecordingContext c = b.build()) {
            for (RecordingContextKey key : KEYS) {
                assertTrue(key.toString(), key.isBound());
                assertTrue(RecordingContext.describe().contains(key.name() + "=v" + key.slot()));
            }
        }
    }

    @Test
    public void lastValueCountsBeyondEightEntries() {
        RecordingContext.Builder b = RecordingContext.builder();
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 7; i++) {
                b.where(KEYS[(i * 3 + round) % 7], "v" + round + i);
            }
        }
        b.where(A, "last").where(RAW, "raw1").where(RAW, "raw2");
        try (RecordingContext c = b.build()) {
            String text = RecordingContext.describe();
            assertTrue(text, text.contains("key0=last"));
            assertTrue(text, text.contains("key7=raw2"));
            for (int i = 1; i < 7; i++) {
                int at = i;
                int last = java.util.stream.IntStream.range(0, 7)
                        .filter(n -> (n * 3 + 4) % 7 == at)
                        .findFirst()
                        .getAsInt();
                assertTrue(text, text.contains("key" + i + "=v4" + last));
            }
        }
    }

    @Test
    public void aNullThatComesAfterARawValueCounts() {
        try (RecordingContext c = RecordingContext.where(RAW, "raw")
                .where(A, "a")
                .where(RAW, null)
                .build()) {
            assertEquals("{key0=a}", RecordingContext.describe());
        }
        try (RecordingContext c =
                RecordingContext.where(RAW, null).where(RAW, "raw").build()) {
            assertEquals("{key7=raw}", RecordingContext.describe());
        }
    }

    @Test
    public void aBuilderMayBuildMoreThanOnce() {
        RecordingContext.Builder b = RecordingContext.where(A, "a").where(RAW, "id-1");
        for (int i = 0; i < 3; i++) {
            try (RecordingContext c = b.build()) {
                assertEquals("{key0=a, key7=id-1}", RecordingContext.describe());
            }
        }
    }

    @Test
    public void closuresReturnAndThrow() throws Exception {
        assertEquals("{key0=a}", RecordingContext.where(A, "a").call(RecordingContext::describe));
        RecordingContext.where(A, "a").run(() -> assertTrue(A.isBound()));
        IOException thrown = new IOException("on purpose");
        assertSame(
                thrown,
                assertThrows(
                        IOException.class,
                        () -> RecordingContext.where(A, "a").call(() -> {
                            throw thrown;
                        })));
        assertFalse(A.isBound());
    }

    @Test
    public void otherThreadsSeeNothingOfAContext() throws Exception {
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            inThread(() -> assertEquals("{}", RecordingContext.describe()));
        }
    }

    @Test
    public void virtualThreadKeepsItsContextWhileItWaits() throws Exception {
        inVirtualThread(() -> {
            long key = CurrentThread.key();
            assertEquals(Slab.NONE, Slab.find(key));
            Thread mine = Thread.currentThread();
            CountDownLatch wake = new CountDownLatch(1);
            Thread waker = new Thread(() -> {
                while (mine.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                wake.countDown();
            });
            try (RecordingContext c =
                    RecordingContext.where(A, "a").where(RAW, "id").build()) {
                waker.start();
                wake.await();
                assertEquals("{key0=a, key7=id}", RecordingContext.describe());
                assertEquals(key, Slab.owner(Slab.find(key)));
            }
            assertEquals("released at depth 0", Slab.NONE, Slab.find(key));
        });
    }

    @Test
    public void putLastsUntilRemove() {
        RecordingContext.put(A, "a1");
        assertEquals("{key0=a1}", RecordingContext.describe());
        try (RecordingContext c = RecordingContext.where(B, "b").build()) {
            RecordingContext.put("key0", "a2");
            assertEquals("{key0=a2, key1=b}", RecordingContext.describe());
        }
        assertEquals("{key0=a2}", RecordingContext.describe());
        try (RecordingContext c = RecordingContext.where(A, "a3").build()) {
            RecordingContext.put(A, "a4");
            assertEquals("{key0=a4}", RecordingContext.describe());
        }
        assertEquals("{key0=a4}", RecordingContext.describe());
        try (RecordingContext c = RecordingContext.where(A, "a5").build()) {
            RecordingContext.remove(A);
            assertEquals("{}", RecordingContext.describe());
        }
        assertEquals("removed for good", "{}", RecordingContext.describe());
        RecordingContext.put(A, "a6");
        RecordingContext.remove("key0");
        RecordingContext.remove(A);
    }

    @Test
    public void putOfRawValuesAtDepthZeroNeverOverflows() {
        for (int i = 0; i < 100; i++) {
            RecordingContext.put(RAW, "request-" + i);
            assertEquals("{key7=request-" + i + "}", RecordingContext.describe());
        }
        RecordingContext.remove(RAW);
        assertEquals(0, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void putOfRawValuesWithinAScopeTakesTheLastBytesAgain() {
        try (RecordingContext c =
                RecordingContext.where(A, "a").where(RAW, "outer").build()) {
            for (int i = 0; i < 100; i++) {
                RecordingContext.put(RAW, "request-" + i);
                assertEquals("{key0=a, key7=request-" + i + "}", RecordingContext.describe());
                RecordingContext.remove(RAW);
            }
        }
        assertEquals(0, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void anAttributeGivenMoreOftenThanEightTimesIsRestored() {
        RecordingContext.put(B, "before");
        RecordingContext.Builder b = RecordingContext.builder();
        for (int i = 0; i < 9; i++) {
            b.where(A, "a" + i);
        }
        b.where(B, "b").where(RAW, "r").where(RAW, "raw").where(A, "last");
        try (RecordingContext c = b.build()) {
            assertEquals("{key0=last, key1=b, key7=raw}", RecordingContext.describe());
        }
        assertEquals("{key1=before}", RecordingContext.describe());
        RecordingContext.remove(B);
    }

    @Test
    public void replacedRawValueFreesItsBytes() {
        // Not by raw(), which would change key6 for all tests of this VM.
        RecordingContextKey other = new RecordingContextKey.RawKey("key6");
        String fifty = "fifty bytes, which fit beside what the other takes";
        try {
            for (int i = 0; i < 20; i++) {
                RecordingContext.put(RAW, "twenty bytes long " + i);
                RecordingContext.put(other, "ten bytes" + i);
                RecordingContext.remove(RAW);
                assertEquals(
                        "only the other's are taken",
                        ("ten bytes" + i).length(),
                        Long.bitCount(Slab.rawUsed(Slab.find(CurrentThread.key()))));
                try (RecordingContext c = RecordingContext.where(RAW, fifty).build()) {
                    assertEquals(
                            "{key6=ten bytes" + i + ", key7=" + fifty + "}",
                            RecordingContext.describe());
                }
                RecordingContext.put(RAW, "long");
                RecordingContext.put(other, "");
                RecordingContext.put(RAW, "s");
                try (RecordingContext.Activation a = RecordingContext.snapshot().activate()) {
                    assertEquals("{key6=, key7=s}", RecordingContext.describe());
                }
                RecordingContext.remove(RAW);
                RecordingContext.remove(other);
                assertEquals(0, Slab.rawUsed(Slab.find(CurrentThread.key())));
            }
            assertEquals(0, counted(Misuse.RAW_AREA_FULL));
        } finally {
            RecordingContextKey.reserve(KEYS[6]);
        }
    }

    @Test
    public void putHoldsTheBlockUntilRemove() throws Exception {
        inVirtualThread(() -> {
            RecordingContext.put(A, "a");
            try (RecordingContext c = RecordingContext.where(B, "b").build()) {
                assertEquals("{key0=a, key1=b}", RecordingContext.describe());
            }
            assertEquals("{key0=a}", RecordingContext.describe());
            RecordingContext.remove(A);
            assertEquals(Slab.NONE, Slab.find(CurrentThread.key()));
        });
    }

    @Test
    public void aMillionNestedScopesOpenAndClose() {
        int depth = 1_000_000;
        RecordingContext[] open = new RecordingContext[depth];
        for (int i = 0; i < depth; i++) {
            open[i] = RecordingContext.where(A, (i & 1) == 0 ? "even" : "odd").build();
        }
        assertEquals("{key0=odd}", RecordingContext.describe());
        for (int i = depth - 1; i >= 0; i--) {
            open[i].close();
        }
    }
}
