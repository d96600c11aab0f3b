/** Uses so much CPU time and says OK: {@code MILLIS}. */
public final class Hello {
    private static long sink;

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 10_000; i++) {
                sink = sink * 31 + i;
            }
        }
        System.out.println("OK");
    }
}
