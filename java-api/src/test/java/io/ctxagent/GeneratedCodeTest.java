package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.implementation.MethodCall;
import org.junit.Test;

/**
 * Code that an instrumentation agent injects: plain calls, no lambda, no checked exception, a close
 * that may come twice.
 */
public class GeneratedCodeTest extends ContextTestCase {
    private static Class<?> generate() throws Exception {
        Method put = RecordingContext.class.getMethod("put", String.class, String.class);
        Method remove = RecordingContext.class.getMethod("remove", String.class);
        Method where = RecordingContext.class.getMethod("where", String.class, String.class);
        Method build = RecordingContext.Builder.class.getMethod("build");
        Method close = RecordingContext.class.getMethod("close");
        int how = Modifier.PUBLIC | Modifier.STATIC;
        return new ByteBuddy()
                .subclass(Object.class)
                .name("generated.Injected")
                .modifiers(Modifier.PUBLIC)
                .defineMethod("enter", void.class, how)
                .intercept(MethodCall.invoke(put).with("key0", "put"))
                .defineMethod("leave", void.class, how)
                .intercept(MethodCall.invoke(remove).with("key0"))
                .defineMethod("open", RecordingContext.class, how)
                .intercept(MethodCall.invoke(build)
                        .onMethodCall(MethodCall.invoke(where).with("key1", "scope")))
                .defineMethod("close", void.class, how)
                .withParameters(RecordingContext.class)
                .intercept(MethodCall.invoke(close).onArgument(0))
                .make()
                .load(GeneratedCodeTest.class.getClassLoader())
                .getLoaded();
    }

    @Test
    public void generatedClassUsesTheApi() throws Exception {
        Class<?> injected = generate();
        injected.getMethod("enter").invoke(null);
        assertEquals("{key0=put}", RecordingContext.describe());
        Object scope = injected.getMethod("open").invoke(null);
        assertEquals("{key0=put, key1=scope}", RecordingContext.describe());
        Method close = injected.getMethod("close", RecordingContext.class);
        close.invoke(null, scope);
        close.invoke(null, scope);
        injected.getMethod("leave").invoke(null);
        assertEquals("{}", RecordingContext.describe());
        for (Method method : injected.getDeclaredMethods()) {
            assertTrue(
                    method.toString(),
                    !method.isSynthetic() && method.getExceptionTypes().length == 0);
        }
    }
}
