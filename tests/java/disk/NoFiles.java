import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Opens files until the process may open no more, works under the label {@code full} until the
 * directory {@code early-done} is there, closes them, works under {@code again} until {@code
 * late-done} is there, and ends the recording. Prints the CPU time of each label: {@code LABEL
 * NANOSECONDS}.
 */
public final class NoFiles {
    public static void main(String[] args) throws Exception {
        work("warm", "."); // what it needs is loaded: later no class can be
        List<FileInputStream> files = fill();
        work("full", "early-done");
        for (FileInputStream file : files) {
            file.close();
        }
        work("again", "late-done");
        AgentControl.execute("stop");
    }

    private static List<FileInputStream> fill() {
        List<FileInputStream> files = new ArrayList<>();
        try {
            while (true) {
                files.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            return files;
        }
    }

    private static void work(String label, String untilThere) {
        File there = new File(untilThere);
        long used;
        try (RecordingContext context = RecordingContext.where("label", label).build()) {
            long begin = Cpu.usedByThisThread();
            Cpu atLeast = Cpu.ofThisThread(300);
            while (atLeast.isLeft() || !there.exists()) {
                Work.spin(100_000);
            }
            used = Cpu.usedByThisThread() - begin;
        }
        System.out.println(label + " " + used);
    }
}
