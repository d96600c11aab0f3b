import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import javax.management.ObjectName;

/**
 * Uses libraries of {@code tests/other-api} that are not what the agent expects; with {@code
 * isolated} by a class loader that asks the boot loader for nothing but the JDK's classes, with
 * {@code channel} one that lacks the library beside it, with {@code connector} one that lacks a
 * method of its own. With {@code stopped} a class is loaded during the recording and used after it.
 */
public class OtherLibraries {
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("channel")) {
            readFromChannel();
        } else if (args.length > 0 && args[0].equals("connector")) {
            serve();
        } else if (args.length > 0 && args[0].equals("stopped")) {
            useLoadedBefore();
        } else if (args.length > 0) {
            useContexts(new Isolated());
        } else {
            ClassLoader loader = OtherLibraries.class.getClassLoader();
            Class<?> logger = Class.forName("org.slf4j.MDC", true, loader);
            Method put = logger.getMethod("put", StringBuilder.class, String.class);
            System.out.println(put.invoke(null, new StringBuilder("tenant"), "acme"));
            useContexts(loader);
        }
    }

    private static void serve() throws ReflectiveOperationException {
        Class<?> type = Class.forName("org.apache.coyote.http11.Http11Processor");
        Class<?> socket = Class.forName("org.apache.tomcat.util.net.SocketWrapperBase");
        Method service = type.getMethod("service", socket);
        Object connector = type.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 3; i++) {
            service.invoke(connector, (Object) null);
        }
    }

    private static void readFromChannel() throws ReflectiveOperationException {
        Class<?> type = Class.forName("reactor.netty.channel.ChannelOperationsHandler");
        Class<?> context = Class.forName("io.netty.channel.ChannelHandlerContext");
        Method read = type.getMethod("channelRead", context, Object.class);
        Object handler = type.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 3; i++) {
            read.invoke(handler, null, "text");
        }
    }

    private static void useLoadedBefore() throws Exception {
        readFromChannel();
        ClassLoader loader = OtherLibraries.class.getClassLoader();
        Class.forName("io.opentelemetry.context.ThreadLocalContextStorage", false, loader);
        ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("io.ctxagent:type=Agent"), "stop", null, null);
        useContexts(loader);
    }

    private static void useContexts(ClassLoader loader) throws ReflectiveOperationException {
        Class<?> context = Class.forName("io.opentelemetry.context.Context", true, loader);
        Object empty = Proxy.newProxyInstance(
                loader,
                new Class<?>[] {context},
                (proxy, method, arguments) ->
                        method.getName().equals("toString") ? "context" : null);
        Class<?> type =
                Class.forName("io.opentelemetry.context.ThreadLocalContextStorage", true, loader);
        Object storage = type.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 3; i++) {
            Object scope = type.getMethod("attach", context).invoke(storage, empty);
            System.out.println(type.getMethod("current").invoke(storage));
            scope.getClass().getMethod("close").invoke(scope);
            System.out.println(type.getMethod("current").invoke(storage));
        }
    }

    private static final class Isolated extends ClassLoader {
        Isolated() {
            super(null);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                return name.startsWith("io.") ? define(name) : super.loadClass(name, resolve);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream in = ClassLoader.getSystemResourceAsStream(file)) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }
}
