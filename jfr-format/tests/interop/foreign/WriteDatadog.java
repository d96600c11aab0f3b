import com.datadoghq.profiler.ContextSetter;
import com.datadoghq.profiler.JavaProfiler;
import java.nio.file.Path;
import java.util.List;

/** A recording of Datadog's profiler, with two attributes on every thread: LIBRARY FILE. */
public final class WriteDatadog {
    public static void main(String[] args) throws Exception {
        JavaProfiler profiler =
                JavaProfiler.getInstance(args[0], Path.of(args[1]).getParent().toString());
        ContextSetter setter = new ContextSetter(profiler, List.of("route", "tenant"));
        profiler.execute("start,cpu=1ms,jfr,attributes=route;tenant,file=" + args[1]);
        Work.run(
                () -> {
                    profiler.addThread();
                    setter.setContextValue("route", "/checkout");
                    setter.setContextValue("tenant", "acme é");
                },
                () -> profiler.getSamples() > 300);
        profiler.stop();
    }

    private WriteDatadog() {}
}
