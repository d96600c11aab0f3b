package service;

/** Uses the CPU. */
final class Work {
    private static volatile long sink;

    private Work() {}

    static void spin(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = sink * 31 + i;
        }
    }
}
