import io.ctxagent.RecordingContext;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.EntryType;
import io.ctxagent.observe.Marks;
import io.ctxagent.observe.Timed;
import java.util.concurrent.CountDownLatch;

/** A VM that ends while it observes itself: one callback blocks, others run, entries come on. */
public final class ObservesEnd {
    private static final int THREADS = 2;

    public static void main(String[] args) throws Exception {
        CountDownLatch blocks = new CountDownLatch(1);
        CountDownLatch runs = new CountDownLatch(1);
        ContextObserver blocked = ContextObserver.create((entries, self) -> {
            blocks.countDown();
            new CountDownLatch(1).await();
        });
        blocked.observe(EntryType.MARK);
        ContextObserver running = ContextObserver.create((entries, self) -> runs.countDown());
        running.observe(ContextObserver.supportedEntryTypes().toArray(new EntryType[0]));
        for (int i = 0; i < THREADS; i++) {
            Threads.start("producer", ObservesEnd::produce);
        }
        blocks.await();
        runs.await();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            Marks.mark("at the end");
            ContextObserver.create((entries, self) -> {}).observe(EntryType.MARK, true);
            running.disconnect();
            System.out.println("marks are kept: " + !Marks.getEntries().isEmpty());
        }));
        System.exit(0);
    }

    private static void produce() {
        Runnable timed = Timed.runnable("timed", () -> {});
        while (true) {
            try (RecordingContext c = RecordingContext.where("tenant", "acme").build()) {
                Marks.mark("mark");
                timed.run();
            }
        }
    }
}
