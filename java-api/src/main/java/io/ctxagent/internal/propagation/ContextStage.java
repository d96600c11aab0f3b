package io.ctxagent.internal.propagation;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A completion stage whose functions run with a context, on whatever thread completes it. A proxy:
 * the interface has forty methods that all want the same, and later JDKs add more.
 */
public final class ContextStage implements InvocationHandler {
    private final CompletionStage<?> stage;
    private final ContextSnapshot snapshot;

    private ContextStage(CompletionStage<?> stage, ContextSnapshot snapshot) {
        this.stage = stage;
        this.snapshot = snapshot;
    }

    @SuppressWarnings("unchecked")
    /** The stage with its context. */
    public static <T> CompletionStage<T> of(CompletionStage<T> stage, ContextSnapshot snapshot) {
        return (CompletionStage<T>) Proxy.newProxyInstance(
                ContextStage.class.getClassLoader(),
                new Class<?>[] {CompletionStage.class},
                new ContextStage(stage, snapshot));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("equals") && method.getDeclaringClass() == Object.class) {
            return proxy == arguments[0];
        }
        Object[] wrapped = arguments == null ? null : arguments.clone();
        Class<?>[] parameters = method.getParameterTypes();
        for (int i = 0; wrapped != null && i < wrapped.length; i++) {
            wrapped[i] = wrap(parameters[i], wrapped[i]);
        }
        try {
            Object result = method.invoke(stage, wrapped);
            // toCompletableFuture() gives the future itself: it cannot be a proxy.
            return method.getReturnType() == CompletionStage.class
                    ? of((CompletionStage<?>) result, snapshot)
                    : result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** By the parameter's type: an executor or another stage may be a Runnable, too. */
    @SuppressWarnings("unchecked")
    private Object wrap(Class<?> parameter, Object argument) {
        if (argument == null) {
            return null;
        }
        if (parameter == Function.class) {
            return new ContextTasks.Apply((Function<Object, Object>) argument, snapshot);
        }
        if (parameter == BiFunction.class) {
            return new ContextTasks.Combine(
                    (BiFunction<Object, Object, Object>) argument, snapshot);
        }
        if (parameter == Consumer.class) {
            return new ContextTasks.Accept((Consumer<Object>) argument, snapshot);
        }
        if (parameter == BiConsumer.class) {
            return new ContextTasks.AcceptBoth((BiConsumer<Object, Object>) argument, snapshot);
        }
        return parameter == Runnable.class
                ? new ContextTasks.Task((Runnable) argument, snapshot)
                : argument;
    }
}
