import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** A {@code StructuredTaskScope} of 21 or 25, by reflection, as this compiles for 17. */
final class Subtasks implements AutoCloseable {
    private static final boolean HAS_OPEN = Runtime.version().feature() >= 25;
    private final Object scope;
    private final List<Object> forked = new ArrayList<>();

    Subtasks() throws ReflectiveOperationException {
        scope = HAS_OPEN
                ? type().getMethod("open").invoke(null)
                : Class.forName(type().getName() + "$ShutdownOnFailure")
                        .getConstructor()
                        .newInstance();
    }

    private static Class<?> type() throws ClassNotFoundException {
        return Class.forName("java.util.concurrent.StructuredTaskScope");
    }

    /** 21 shows the task of a subtask. */
    void fork(Callable<?> task) throws ReflectiveOperationException {
        Object subtask = type().getMethod("fork", Callable.class).invoke(scope, task);
        if (!HAS_OPEN) {
            Checks.same("task of a subtask", task, ofSubtask("task").invoke(subtask));
        }
        forked.add(subtask);
    }

    /** Their results. */
    List<Object> join() throws ReflectiveOperationException {
        type().getMethod("join").invoke(scope);
        List<Object> results = new ArrayList<>();
        for (Object subtask : forked) {
            results.add(ofSubtask("get").invoke(subtask));
        }
        return results;
    }

    private static Method ofSubtask(String name) throws ReflectiveOperationException {
        return Class.forName(type().getName() + "$Subtask").getMethod(name);
    }

    @Override
    public void close() throws ReflectiveOperationException {
        type().getMethod("close").invoke(scope);
    }
}
