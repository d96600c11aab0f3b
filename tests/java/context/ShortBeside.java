import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that hold a block, with ids in a row, and then many short ones, far fewer at a time than
 * there are blocks left: each must have its own context. Arguments: platform|virtual of the
 * holders, of the short ones, holders, short ones, open|closed for the holders' scopes.
 */
public final class ShortBeside {
    private static final RecordingContextKey NAME = RecordingContextKey.forName("name");
    private static final int AT_ONCE = 100;

    public static void main(String[] args) throws Exception {
        int holders = Integer.parseInt(args[2]);
        boolean open = args[4].equals("open");
        CountDownLatch here = new CountDownLatch(holders);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger without = new AtomicInteger();
        List<Thread> holding = Threads.start(args[0].equals("virtual"), holders, "holder", i -> {
            try (var scope = RecordingContext.where(NAME, "h" + i % 100).build()) {
                count("h" + i % 100, without);
                if (open) {
                    here.countDown();
                    go.await();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            here.countDown();
            await(go);
        });
        here.await();
        boolean virtual = args[1].equals("virtual");
        for (int left = Integer.parseInt(args[3]); left > 0; left -= AT_ONCE) {
            Threads.join(Threads.start(virtual, AT_ONCE, "short", i -> {
                try (var scope = RecordingContext.where(NAME, "s" + i).build()) {
                    count("s" + i, without);
                }
            }));
        }
        System.out.println("without: " + without);
        System.out.println(AgentControl.execute("status"));
        go.countDown();
        Threads.join(holding);
    }

    private static void count(String expected, AtomicInteger without) {
        if (!RecordingContext.describe().contains(expected)) {
            without.incrementAndGet();
        }
    }

    private static void await(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
