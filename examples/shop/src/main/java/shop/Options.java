package shop;

import java.util.List;

/** What the command line says. */
final class Options {
    long warmup = 3;
    long seconds;
    long requests;
    int clients = 8;
    int alternate;
    long phase = 150;
    String recording = "event=cpu,interval=10ms";
    int front;
    int office;
    private String threads = Runtime.version().feature() >= 21 ? "both" : "platform";

    private Options() {}

    static Options parse(String[] args) {
        Options o = new Options();
        for (String arg : args) {
            int equals = arg.indexOf('=');
            String name = equals < 0 ? arg : arg.substring(0, equals);
            String value = equals < 0 ? "" : arg.substring(equals + 1);
            switch (name) {
                case "--threads":
                    o.threads = oneOf(name, value, List.of("both", "virtual", "platform"));
                    break;
                case "--warmup":
                    o.warmup = number(name, value, 3600);
                    break;
                case "--seconds":
                    o.seconds = number(name, value, 3600);
                    break;
                case "--requests":
                    o.requests = number(name, value, 100_000_000);
                    break;
                case "--clients":
                    o.clients = (int) number(name, value, 1000);
                    break;
                case "--alternate":
                    o.alternate = (int) number(name, value, 10_000);
                    break;
                case "--phase":
                    o.phase = number(name, value, 60_000);
                    break;
                case "--recording":
                    o.recording = value;
                    break;
                case "--front":
                    o.front = (int) number(name, value, 65_535);
                    break;
                case "--office":
                    o.office = (int) number(name, value, 65_535);
                    break;
                default:
                    throw new IllegalArgumentException("unknown option " + arg
                            + "; there are --threads=both|virtual|platform "
                            + "--warmup=SECONDS --seconds=SECONDS --requests=NUMBER "
                            + "--clients=NUMBER --alternate=ROUNDS --phase=MILLISECONDS "
                            + "--recording=OPTIONS; without --seconds and --requests the "
                            + "shop waits for visitors");
            }
        }
        return o;
    }

    private static String oneOf(String name, String value, List<String> allowed) {
        if (!allowed.contains(value)) {
            throw new IllegalArgumentException(name + "=" + value + " is none of " + allowed);
        }
        return value;
    }

    private static long number(String name, String value, long most) {
        try {
            long n = Long.parseLong(value);
            if (n >= 0 && n <= most) {
                return n;
            }
        } catch (NumberFormatException notANumber) {
            // told below
        }
        throw new IllegalArgumentException(
                name + "=" + value + " is not a number from 0 to " + most);
    }

    boolean frontVirtual() {
        return !threads.equals("platform");
    }

    boolean officeVirtual() {
        return threads.equals("virtual");
    }

    String threads() {
        return threads.equals("both") ? "virtual and platform threads" : threads + " threads";
    }

    List<String> forLoad() {
        return List.of(
                "--warmup=" + warmup,
                "--seconds=" + seconds,
                "--requests=" + requests,
                "--clients=" + clients);
    }
}
