import java.lang.reflect.Method;

/** Uses libraries of {@code tests/other-api} that are not what the agent expects. */
public class OtherLibraries {
    public static void main(String[] args) throws Exception {
        Method put = Class.forName("org.slf4j.MDC")
                .getMethod("put", StringBuilder.class, String.class);
        System.out.println(put.invoke(null, new StringBuilder("tenant"), "acme"));

        Class<?> context = Class.forName("io.opentelemetry.context.Context");
        Object empty = java.lang.reflect.Proxy.newProxyInstance(
                context.getClassLoader(),
                new Class<?>[] {context},
                (proxy, method, arguments) ->
                        method.getName().equals("toString") ? "context" : null);
        Class<?> type = Class.forName("io.opentelemetry.context.ThreadLocalContextStorage");
        Object storage = type.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 3; i++) {
            Object scope = type.getMethod("attach", context).invoke(storage, empty);
            System.out.println(type.getMethod("current").invoke(storage));
            scope.getClass().getMethod("close").invoke(scope);
            System.out.println(type.getMethod("current").invoke(storage));
        }
    }
}
