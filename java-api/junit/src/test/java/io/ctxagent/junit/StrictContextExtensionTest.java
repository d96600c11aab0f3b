package io.ctxagent.junit;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.ctxagent.RecordingContext;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.Test;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs classes of JUnit 5 with the extension, and looks at what became of their tests. */
public class StrictContextExtensionTest {
    private static RecordingContext open() {
        return RecordingContext.where("tenant", "acme").build();
    }

    /** Tests that pass, and tests that the extension has to fail. */
    @ExtendWith(StrictContextExtension.class)
    static class Cases {
        private static RecordingContext ofClass;
        private RecordingContext ofTest;

        @BeforeAll
        static void openForClass() {
            ofClass = open();
        }

        @AfterAll
        static void closeOfClass() {
            ofClass.close();
        }

        @BeforeEach
        void openForTest() {
            ofTest = open();
        }

        @AfterEach
        void closeOfTest() {
            ofTest.close();
        }

        @org.junit.jupiter.api.Test
        void closes() {
            open().close();
        }

        @org.junit.jupiter.api.Test
        void leavesOpen() {
            open();
        }

        @org.junit.jupiter.api.Test
        void leavesOpenInPool() throws Exception {
            ExecutorService pool = Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task, "pool of the test");
                thread.setDaemon(true);
                return thread;
            });
            Thread worker = pool.submit(() -> {
                        open();
                        return Thread.currentThread();
                    })
                    .get();
            while (worker.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
    }

    /** A class that never closes what it opened for all of its tests. */
    @ExtendWith(StrictContextExtension.class)
    static class LeftByClass {
        @BeforeAll
        static void openForClass() {
            open();
        }

        @org.junit.jupiter.api.Test
        void passes() {}
    }

    /** Without the annotation. */
    static class Detected {
        @org.junit.jupiter.api.Test
        void leavesOpen() {
            open();
        }
    }

    /** The failures by test, an empty text for those that passed. */
    private static Map<String, String> run(Class<?> type, boolean detects) {
        Map<String, String> ended = new TreeMap<>();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(type))
                .configurationParameter(
                        "junit.jupiter.extensions.autodetection.enabled", String.valueOf(detects))
                .build();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                String name = test.getDisplayName();
                String failure =
                        result.getThrowable().map(Throwable::getMessage).orElse("");
                ended.put(name.substring(name.indexOf('$') + 1), failure);
            }
        });
        return ended;
    }

    @Test
    public void onlyTestsThatLeaveScopesFail() {
        Map<String, String> ended = run(Cases.class, false);
        assertEquals("", ended.get("closes()"));
        assertEquals("", ended.get("Cases"));
        String left = ended.get("leavesOpen()");
        assertTrue(left, left.startsWith("a context was not used as it should be\nLEFT_OPEN: "));
        assertTrue(left, left.contains("Cases.leavesOpen(StrictContextExtensionTest.java:"));
        String pool = ended.get("leavesOpenInPool()");
        assertTrue(pool, pool.contains("pool of the test"));
    }

    @Test
    public void classThatLeavesScopeFails() {
        Map<String, String> ended = run(LeftByClass.class, false);
        assertEquals("", ended.get("passes()"));
        String left = ended.get("LeftByClass");
        assertTrue(left, left.contains("LeftByClass.openForClass("));
    }

    @Test
    public void extensionIsDetected() {
        assertTrue(run(Detected.class, true).get("leavesOpen()").contains("LEFT_OPEN"));
        assertEquals("", run(Detected.class, false).get("leavesOpen()"));
    }
}
