package io.ctxagent.patched;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ThreadPoolExecutor;

/** What {@code java.base} calls in place of methods of these names. */
public final class Calls {
    /** Calls of public methods; some are lost where threads meet. */
    public static long calls;
    /** The calls of the methods below, in their order; guarded by the class. */
    public static final int[] COUNTS = new int[5];

    private static Method before;
    private static Method after;
    private static Method exec;

    private Calls() {}

    public static void beforeExecute(ThreadPoolExecutor pool, Thread thread, Runnable task) {
        if (before == null) {
            before =
                    method(ThreadPoolExecutor.class, "beforeExecute", Thread.class, Runnable.class);
        }
        count(0);
        invoke(before, pool, thread, task);
    }

    public static void afterExecute(ThreadPoolExecutor pool, Runnable task, Throwable failure) {
        if (after == null) {
            after = method(
                    ThreadPoolExecutor.class, "afterExecute", Runnable.class, Throwable.class);
        }
        count(1);
        invoke(after, pool, task, failure);
    }

    public static int drainTo(BlockingQueue<Object> queue, Collection<Object> target) {
        count(2);
        return queue.drainTo(target);
    }

    public static void run(TimerTask task) {
        count(3);
        task.run();
    }

    public static boolean exec(ForkJoinTask<?> task) {
        if (exec == null) {
            exec = method(ForkJoinTask.class, "exec");
        }
        count(4);
        return (Boolean) invoke(exec, task);
    }

    public static boolean hasNext(Iterator<?> iterator) {
        calls++;
        return iterator.hasNext();
    }

    public static Object next(Iterator<?> iterator) {
        calls++;
        return iterator.next();
    }

    public static Object put(Map<Object, Object> map, Object key, Object value) {
        calls++;
        return map.put(key, value);
    }

    public static int hashCode(Object object) {
        calls++;
        return object.hashCode();
    }

    public static char charAt(String text, int index) {
        calls++;
        return text.charAt(index);
    }

    public static int max(int one, int other) {
        calls++;
        return one < other ? other : one;
    }

    public static void wait(Object object, long millis) throws InterruptedException {
        calls++;
        object.wait(millis);
    }

    private static synchronized void count(int place) {
        COUNTS[place]++;
    }

    /** A protected method; this class is in the same module by the time that it runs. */
    private static Method method(Class<?> owner, String name, Class<?>... parameters) {
        try {
            Method method = owner.getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object invoke(Method method, Object receiver, Object... arguments) {
        try {
            return method.invoke(receiver, arguments);
        } catch (InvocationTargetException e) {
            throw Calls.<RuntimeException>unchecked(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }
}
