/** What a program does when it does not matter what. */
final class Work {
    private static volatile long sink;

    static void spin(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = sink * 31 + i;
        }
    }
}
