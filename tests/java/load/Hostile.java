import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntBinaryOperator;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * A load that is hard to walk: everything that makes stacks unusual, at once. Arguments: seconds,
 * seed, and optionally the names of the jobs to run (default: all). Checks its own results and ends
 * with one line {@code STRESS-OK} and the number of rounds of each job.
 */
public final class Hostile {
    private static volatile boolean over;
    private static volatile Throwable failure;
    private static volatile Object sink;
    private static final Map<String, AtomicLong> ROUNDS = new HashMap<>();

    private interface Job {
        void round(Random random) throws Throwable;
    }

    public static void main(String[] args) throws Exception {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 10;
        long seed = args.length > 1 ? Long.parseLong(args[1]) : 1;
        List<String> chosen = args.length > 2 ? Arrays.asList(args).subList(2, args.length) : null;
        Map<String, Job> jobs = new java.util.LinkedHashMap<>();
        jobs.put("allocation", Hostile::allocation);
        jobs.put("exceptions", Hostile::exceptions);
        jobs.put("hidden", Hostile::hiddenClasses);
        jobs.put("loaders", Hostile::loaders);
        jobs.put("zip", Hostile::zip);
        jobs.put("locks1", Hostile::locks);
        jobs.put("locks2", Hostile::locks);
        jobs.put("recursion", Hostile::recursion);
        jobs.put("threads", Hostile::shortThreads);
        jobs.put("reflection", Hostile::reflection);
        jobs.put("copies", Hostile::copies);
        jobs.put("maths", Hostile::maths);
        if (Threads.hasVirtual()) {
            jobs.put("virtual", Hostile::virtualBurst);
        }
        List<Thread> threads = new ArrayList<>();
        for (Map.Entry<String, Job> job : jobs.entrySet()) {
            if (chosen != null && !chosen.contains(job.getKey().replaceAll("\\d", ""))) {
                continue;
            }
            AtomicLong count = new AtomicLong();
            ROUNDS.put(job.getKey(), count);
            Random random = new Random(seed * 31 + job.getKey().hashCode());
            threads.add(Threads.start(
                    "hostile-" + job.getKey(), () -> loop(job.getValue(), random, count)));
        }
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end && failure == null) {
            Thread.sleep(50);
        }
        over = true;
        Threads.join(threads);
        if (failure != null) {
            failure.printStackTrace(System.out);
            System.out.println("STRESS-FAILED");
            System.exit(1);
        }
        System.out.println("STRESS-OK " + ROUNDS);
    }

    private static void loop(Job job, Random random, AtomicLong count) {
        try {
            while (!over) {
                job.round(random);
                count.incrementAndGet();
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    private static void check(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }

    // ---- allocation and collections

    private static void allocation(Random random) {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            byte[] array = new byte[64 + random.nextInt(4096)];
            array[array.length - 1] = (byte) i;
            kept.add(array);
            if (kept.size() > 100) {
                kept.remove(random.nextInt(100));
            }
        }
        check(kept.stream().allMatch(a -> a.length >= 64), "allocation");
        sink = kept;
        if (random.nextInt(200) == 0) {
            System.gc();
        }
    }

    // ---- exceptions: deep, implicit

    private static final class Deep extends RuntimeException {
        private static final long serialVersionUID = 1;

        Deep(String message) {
            super(message);
        }
    }

    private static int dig(int depth) {
        if (depth == 0) {
            throw new Deep("bottom");
        }
        try {
            return dig(depth - 1) + 1;
        } finally {
            sink = depth;
        }
    }

    private static int[] nothing(int i) {
        return (i & 3) == 0 ? null : new int[2];
    }

    private static void exceptions(Random random) {
        int caught = 0;
        for (int i = 0; i < 50; i++) {
            try {
                dig(20 + random.nextInt(60));
            } catch (Deep e) {
                caught++;
            }
            try {
                sink = nothing(i)[1 + (i & 1)];
            } catch (NullPointerException | ArrayIndexOutOfBoundsException e) {
                caught++;
            }
            try {
                Object o = (i & 1) == 0 ? "text" : Integer.valueOf(i);
                sink = ((String) o).length();
            } catch (ClassCastException e) {
                caught++;
            }
        }
        check(caught >= 50, "exceptions");
    }

    // ---- hidden classes, class hierarchy changes

    public abstract static class Shape {
        public abstract int area(int n);
    }

    public static final class Square extends Shape {
        @Override
        public int area(int n) {
            return n * n;
        }
    }

    public static final class Strip extends Shape {
        @Override
        public int area(int n) {
            return n + n * (n - 1);
        }
    }

    public static class Template implements Callable<Integer> {
        private int state;

        @Override
        public Integer call() {
            int sum = state;
            for (int i = 0; i < 300; i++) {
                sum += i;
            }
            state = 0;
            return sum;
        }
    }

    private static int total(Shape[] shapes) {
        int sum = 0;
        for (int i = 0; i < 2_000; i++) {
            sum += shapes[i % shapes.length].area(3);
        }
        return sum;
    }

    private static byte[] template;

    private static byte[] template() throws Exception {
        if (template == null) {
            try (java.io.InputStream in =
                    Hostile.class.getResourceAsStream("Hostile$Template.class")) {
                template = in.readAllBytes();
            }
        }
        return template;
    }

    private static void hiddenClasses(Random random) throws Throwable {
        Class<?> hidden =
                MethodHandles.lookup().defineHiddenClass(template(), true).lookupClass();
        @SuppressWarnings("unchecked")
        Callable<Integer> call =
                (Callable<Integer>) hidden.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 100; i++) {
            check(call.call() == 44_850, "hidden class");
        }
        Shape[] shapes = random.nextBoolean()
                ? new Shape[] {new Square()}
                : new Shape[] {new Strip(), new Square()};
        check(total(shapes) == 18_000, "shapes");
        IntBinaryOperator lambda = random.nextBoolean() ? (a, b) -> a + b : Math::addExact;
        check(lambda.applyAsInt(20, 22) == 42, "lambda");
    }

    // ---- class loaders

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Hostile.class.getClassLoader());
        }

        Class<?> make(byte[] code) {
            return defineClass("Hostile$Template", code, 0, code.length);
        }
    }

    private static void loaders(Random random) throws Throwable {
        Class<?> made = new Loader().make(template());
        Object instance = made.getDeclaredConstructor().newInstance();
        @SuppressWarnings("unchecked")
        Callable<Integer> call = (Callable<Integer>) instance;
        int rounds = 20 + random.nextInt(2_000);
        for (int i = 0; i < rounds; i++) {
            check(call.call() == 44_850, "loader");
        }
    }

    // ---- intrinsics and native code

    private static void zip(Random random) throws Exception {
        byte[] data = new byte[20_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (random.nextInt(16) + (i & 32));
        }
        CRC32 crc = new CRC32();
        crc.update(data);
        Deflater deflater = new Deflater();
        deflater.setInput(data);
        deflater.finish();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[4096];
        while (!deflater.finished()) {
            out.write(buffer, 0, deflater.deflate(buffer));
        }
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(out.toByteArray());
        byte[] back = new byte[data.length];
        int length = inflater.inflate(back);
        inflater.end();
        CRC32 again = new CRC32();
        again.update(back, 0, length);
        check(crc.getValue() == again.getValue(), "zip");
        String text =
                String.format(Locale.ROOT, "%08x %s %.3f", crc.getValue(), "zip", length / 3.0);
        check(text.startsWith(String.format(Locale.ROOT, "%08x", again.getValue())), "format");
        check(
                new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
                        .equals(text),
                "text");
    }

    private static void copies(Random random) {
        int[] from = new int[1 + random.nextInt(3_000)];
        Arrays.setAll(from, i -> i ^ 5);
        int[] to = new int[from.length];
        for (int i = 0; i < 200; i++) {
            System.arraycopy(from, 0, to, 0, from.length);
            Arrays.fill(from, from.length / 2, from.length, i);
            Object[] boxed = new Object[20];
            System.arraycopy(new Integer[] {i, i, i}, 0, boxed, 3, 3);
            sink = boxed;
        }
        check(from.length < 2 || to[0] == 5, "copies");
        byte[] a = new byte[500];
        check(Arrays.equals(a, a.clone()) && Arrays.hashCode(a) != 7, "equals");
    }

    private static void maths(Random random) {
        double sum = 0;
        for (int i = 1; i < 2_000; i++) {
            double x = random.nextDouble() * i;
            sum += Math.sin(x) * Math.sin(x) + Math.cos(x) * Math.cos(x);
            sum += Math.exp(Math.log(x + 1)) - x - Math.pow(1, x);
            sum += (int) (x * 1e30) == Integer.MAX_VALUE ? 0 : 0.0;
        }
        check(Math.abs(sum - 1_999) < 1e-3, "maths " + sum);
        java.math.BigInteger big = new java.math.BigInteger(512, random);
        check(big.multiply(big).sqrt().equals(big), "big");
    }

    // ---- locks

    private static final Object LOCK = new Object();
    private static long shared;

    private static void locks(Random random) {
        long before;
        synchronized (LOCK) {
            before = shared;
            for (int i = 0; i < 200; i++) {
                shared++;
            }
            check(shared == before + 200, "lock");
        }
        if (random.nextInt(50) == 0) {
            Thread.yield();
        }
    }

    // ---- recursion

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    private static int down(int n, long a, double b, Object c) {
        return n == 0 ? (int) a : 1 + down(n - 1, a, b + 1, c);
    }

    private static int endless(int n) {
        return 1 + endless(n + 1);
    }

    private static void recursion(Random random) {
        check(fib(18) == 2_584, "fib");
        int depth = random.nextInt(800);
        check(down(depth, 7, 1.5, "x") == depth + 7, "down");
        if (random.nextInt(2_000) == 0) {
            try {
                sink = endless(0);
            } catch (StackOverflowError e) {
                sink = e;
            }
        }
    }

    // ---- threads

    private static void shortThreads(Random random) throws InterruptedException {
        long[] sums = new long[4];
        int[] work = random.ints(sums.length, 0, 40_000).toArray();
        Threads.run(sums.length, "short", i -> {
            long sum = 0;
            for (int k = 0; k < work[i]; k++) {
                sum += k % 7 == 0 ? fib(3) : 2;
            }
            sums[i] = sum + 1;
        });
        check(Arrays.stream(sums).allMatch(sum -> sum > 0), "thread");
    }

    private static int sleepDeep(int depth, int burn) throws InterruptedException {
        if (depth == 0) {
            Thread.sleep(1);
            return fib(burn);
        }
        int below = sleepDeep(depth - 1, burn);
        return below + (fib(5) - 5);
    }

    private static void virtualBurst(Random random) throws Throwable {
        int[] depths = random.ints(40, 0, 30).toArray();
        AtomicLong sum = new AtomicLong();
        Threads.join(Threads.start(true, depths.length, "", i -> {
            for (int k = 0; k < 5; k++) {
                sum.addAndGet(sleepDeep(depths[i], 12));
            }
        }));
        check(sum.get() == 40L * 5 * 144, "virtual");
    }

    // ---- reflection and method handles

    public static int plus(int a, int b) {
        return a + b;
    }

    private static void reflection(Random random) throws Throwable {
        Method method = Hostile.class.getMethod("plus", int.class, int.class);
        MethodHandle handle = MethodHandles.lookup()
                .findStatic(
                        Hostile.class,
                        "plus",
                        MethodType.methodType(int.class, int.class, int.class));
        MethodHandle bound = MethodHandles.insertArguments(handle, 0, random.nextInt(100));
        MethodHandle filtered =
                MethodHandles.filterReturnValue(bound, MethodHandles.identity(int.class));
        for (int i = 0; i < 300; i++) {
            check((Integer) method.invoke(null, i, 1) == i + 1, "reflection");
            check((int) handle.invokeExact(i, 2) == i + 2, "handle");
            sink = (int) filtered.invoke(i);
        }
    }
}
