import io.ctxagent.AgentControl;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Runs a program and ends the recording when its main has returned, with the patience of a command:
 * {@code PROGRAM ARGUMENTS}. The end of a JVM grants its last write half a second, and a machine
 * may stand still for longer.
 *
 * <p>Says on stderr if there is nothing to stop. A program that ends otherwise ends the JVM as it
 * would without this.
 */
public final class Stopped {
    public static void main(String[] args) throws Throwable {
        Method main = Class.forName(args[0]).getMethod("main", String[].class);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        try {
            AgentControl.execute("stop");
        } catch (IllegalStateException e) {
            System.err.println("not stopped: " + e.getMessage());
        }
    }
}
