import io.ctxagent.RecordingContext;
import io.intruder.AccessAttempts;
import java.io.InputStream;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import sun.misc.Unsafe;

/**
 * Tries to read and write memory through the agent, from the class path, from a named module, and
 * beside a second copy of the API.
 */
public final class Intruder {
    private static final long SECRET = 0x0123_4567_89ab_cdefL;

    public static void main(String[] args) throws Exception {
        Unsafe unsafe = unsafe();
        long address = unsafe.allocateMemory(1 << 10);
        for (int at = 0; at < 1 << 10; at += Long.BYTES) {
            unsafe.putLong(address + at, SECRET);
        }
        try (RecordingContext context = RecordingContext.where("endpoint", "/a").build()) {
            System.out.println("class path: " + AccessAttempts.tryAll(address));
            System.out.println("named module: " + inModule(address));
            System.out.println("second copy: " + besideCopy(address));
        }
        boolean untouched = true;
        for (int at = 0; at < 1 << 10; at += Long.BYTES) {
            untouched &= unsafe.getLong(address + at) == SECRET;
        }
        System.out.println("untouched: " + untouched);
    }

    private static Unsafe unsafe() throws ReflectiveOperationException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return (Unsafe) field.get(null);
    }

    private static String inModule(long address) throws Exception {
        ModuleFinder finder = new OneClassModule();
        Configuration configuration = ModuleLayer.boot()
                .configuration()
                .resolve(finder, ModuleFinder.of(), Set.of("intruder"));
        ModuleLayer layer = ModuleLayer.boot()
                .defineModulesWithOneLoader(configuration, Intruder.class.getClassLoader());
        Class<?> attempts = layer.findLoader("intruder").loadClass(AccessAttempts.class.getName());
        if (!"intruder".equals(attempts.getModule().getName())) {
            throw new IllegalStateException("not in the module: " + attempts.getModule());
        }
        return (String) attempts.getMethod("tryAll", long.class).invoke(null, address);
    }

    private static String besideCopy(long address) throws Exception {
        URL[] places = {place(RecordingContext.class), place(AccessAttempts.class)};
        ClassLoader loader = new URLClassLoader(places, ClassLoader.getPlatformClassLoader());
        loader.loadClass("io.ctxagent.RecordingContext").getMethod("describe").invoke(null);
        Class<?> attempts = loader.loadClass(AccessAttempts.class.getName());
        return (String) attempts.getMethod("tryAll", long.class).invoke(null, address);
    }

    private static URL place(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /** Finds an open module that holds {@link AccessAttempts}. */
    private static final class OneClassModule implements ModuleFinder {
        private final ModuleReference module =
                new ModuleReference(
                        ModuleDescriptor.newOpenModule("intruder")
                                .requires("java.base")
                                .packages(Set.of("io.intruder"))
                                .build(),
                        URI.create("memory:intruder")) {
                    @Override
                    public ModuleReader open() {
                        return new OneClassReader();
                    }
                };

        @Override
        public Optional<ModuleReference> find(String name) {
            return name.equals("intruder") ? Optional.of(module) : Optional.empty();
        }

        @Override
        public Set<ModuleReference> findAll() {
            return Set.of(module);
        }
    }

    private static final class OneClassReader implements ModuleReader {
        private final List<String> names = List.of("io/intruder/AccessAttempts.class");

        @Override
        public Optional<URI> find(String name) {
            return names.contains(name)
                    ? Optional.of(URI.create("memory:" + name))
                    : Optional.empty();
        }

        @Override
        public Optional<ByteBuffer> read(String name) throws java.io.IOException {
            try (InputStream in = Intruder.class.getResourceAsStream("/" + name)) {
                return Optional.of(ByteBuffer.wrap(in.readAllBytes()));
            }
        }

        @Override
        public Stream<String> list() {
            return names.stream();
        }

        @Override
        public void close() {}
    }
}
