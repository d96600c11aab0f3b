/** What a program does when it does not matter what. */
final class Work {
    private static volatile long last;

    /** About five nanoseconds a round on any machine; a volatile write takes one to thirteen. */
    static void spin(int rounds) {
        long value = last;
        for (int i = 0; i < rounds; i++) {
            value = (value ^ i) * 31 + i;
            value = (value ^ i) * 37 + i;
        }
        last = value;
    }
}
