import one.profiler.AsyncProfiler;

/** A recording of async-profiler: LIBRARY FILE. */
public final class WriteAsyncProfiler {
    public static void main(String[] args) throws Exception {
        AsyncProfiler profiler = AsyncProfiler.getInstance(args[0]);
        profiler.execute("start,jfr,event=ctimer,interval=1ms,alloc=64k,wall=20ms,file=" + args[1]);
        Work.run(() -> {}, () -> profiler.getSamples() > 300);
        profiler.execute("stop,file=" + args[1]);
    }

    private WriteAsyncProfiler() {}
}
