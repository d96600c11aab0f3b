package io.intruder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;

/** Tries to reach an address through the class by which the API accesses the slab. */
public final class AccessAttempts {
    private static final String CARRIER = "jdk.internal.javac.DirectMemory";
    private static final String API = "io.ctxagent.internal.agent.Memory";

    private AccessAttempts() {}

    /** What each way gives; {@code address} is no block. */
    public static String tryAll(long address) throws Exception {
        Class<?> carrier = Class.forName(CARRIER, true, null);
        Class<?> api = Class.forName(API, false, AccessAttempts.class.getClassLoader());
        return "calls " + calls(carrier, address) + ", link " + link(carrier, address)
                + ", privates " + privates(carrier) + ", private lookup " + lookup(carrier)
                + ", Unsafe " + unsafe() + ", API " + calls(api, address);
    }

    /** Calls each public method that takes an address. */
    private static String calls(Class<?> type, long address) {
        TreeSet<String> outcomes = new TreeSet<>();
        for (Method method : type.getMethods()) {
            Class<?>[] parameters = method.getParameterTypes();
            if (Modifier.isStatic(method.getModifiers())
                    && parameters.length > 1
                    && parameters[0] == long.class) {
                String outcome = outcome(() -> method.invoke(null, arguments(parameters, address)));
                outcomes.add(outcome.startsWith("reached") ? outcome + method : outcome);
            }
        }
        return String.join("/", outcomes);
    }

    private static Object[] arguments(Class<?>[] parameters, long address) {
        List<Object> arguments = new ArrayList<>();
        arguments.add(address);
        for (int i = 1; i < parameters.length; i++) {
            Class<?> type = parameters[i];
            arguments.add(
                    type == long.class
                            ? (Object) 0L
                            : type == int.class
                                    ? (Object) 0
                                    : type == byte.class ? (Object) (byte) 0 : "ten letters");
        }
        return arguments.toArray();
    }

    /** What the VM does to link a call. */
    private static String link(Class<?> carrier, long address) {
        MethodType type = MethodType.methodType(long.class, long.class, long.class);
        return outcome(() -> {
            try {
                return MethodHandles.lookup()
                        .findStatic(carrier, "getLong", type)
                        .invokeWithArguments(address, 0L);
            } catch (Exception passedOn) {
                throw passedOn;
            } catch (Throwable error) {
                throw new IllegalStateException(error);
            }
        });
    }

    private static String privates(Class<?> carrier) {
        List<AccessibleObject> all = new ArrayList<>();
        all.addAll(List.of(carrier.getDeclaredFields()));
        all.addAll(List.of(carrier.getDeclaredConstructors()));
        all.addAll(List.of(carrier.getDeclaredMethods()));
        all.removeIf(
                member -> Modifier.isPublic(((java.lang.reflect.Member) member).getModifiers()));
        TreeSet<String> outcomes = new TreeSet<>();
        for (AccessibleObject member : all) {
            outcomes.add(outcome(() -> {
                member.setAccessible(true);
                return member;
            }));
        }
        return String.join("/", outcomes);
    }

    private static String lookup(Class<?> carrier) {
        return outcome(() -> MethodHandles.privateLookupIn(carrier, MethodHandles.lookup()));
    }

    private static String unsafe() {
        return outcome(() ->
                Class.forName("jdk.internal.misc.Unsafe").getMethod("getUnsafe").invoke(null));
    }

    private static String outcome(Callable<Object> way) {
        try {
            return "reached " + way.call();
        } catch (InvocationTargetException inside) {
            return inside.getCause() instanceof IndexOutOfBoundsException
                    ? "bounded"
                    : "failed " + inside.getCause();
        } catch (IndexOutOfBoundsException outside) {
            return "bounded";
        } catch (IllegalAccessException | InaccessibleObjectException refused) {
            return "refused";
        } catch (Exception other) {
            return "failed " + other;
        }
    }
}
