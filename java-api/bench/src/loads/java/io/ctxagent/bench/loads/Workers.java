package io.ctxagent.bench.loads;

import java.util.ArrayList;
import java.util.List;

/** Threads that do the same work without end, and what they did in the phase that is on. */
final class Workers {
    private final List<Worker> workers = new ArrayList<>();

    Workers(String load, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            workers.add(new Worker(Work.of(load, i)));
        }
        for (Worker worker : workers) {
            Thread thread = new Thread(worker::loop, "worker");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Begins a phase: what is done from now on goes into a new record. */
    Latencies begin() {
        Latencies phase = new Latencies(workers.size());
        for (int i = 0; i < workers.size(); i++) {
            workers.get(i).phase = phase.of(i);
        }
        return phase;
    }

    private static final class Worker {
        private final Work work;
        private volatile long[] phase = new long[Latencies.BUCKETS];
        private volatile long sink;

        Worker(Work work) {
            this.work = work;
        }

        /** The frame that each stack of a worker must reach. */
        void loop() {
            try {
                while (true) {
                    long begin = System.nanoTime();
                    sink = work.once();
                    phase[Latencies.bucket(System.nanoTime() - begin)]++;
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
