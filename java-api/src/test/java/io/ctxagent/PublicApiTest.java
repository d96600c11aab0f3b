package io.ctxagent;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Assume;
import org.junit.Test;

/** Compares the public API with {@code api.txt}, so that no change of it goes unnoticed. */
public class PublicApiTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final List<String> PACKAGES = List.of("io.ctxagent", "io.ctxagent.observe");
    private static final Path FOUND = Path.of("build/api.txt");

    @Test
    public void publicApiIsTheOneInTheTree() throws Exception {
        Assume.assumeTrue("run where the sources are", Files.isDirectory(SOURCES));
        String found = api();
        Files.createDirectories(FOUND.getParent());
        Files.writeString(FOUND, found);
        assertEquals(
                "to renew it: cp java-api/build/api.txt java-api/api.txt",
                Files.readString(Path.of("api.txt")),
                found);
    }

    private static String api() throws IOException, ClassNotFoundException {
        List<Class<?>> types = new ArrayList<>();
        for (String of : PACKAGES) {
            try (Stream<Path> files = Files.list(SOURCES.resolve(of.replace('.', '/')))) {
                for (Path file : files.collect(Collectors.toList())) {
                    String name = file.getFileName().toString();
                    if (name.endsWith(".java") && !name.startsWith("package-")) {
                        add(types, Class.forName(of + "." + name.replace(".java", "")));
                    }
                }
            }
        }
        types.sort(Comparator.comparing(Class::getName));
        return types.stream().map(PublicApiTest::describe).collect(Collectors.joining("\n"));
    }

    private static void add(List<Class<?>> types, Class<?> type) {
        if (isVisible(type.getModifiers())) {
            types.add(type);
            for (Class<?> nested : type.getDeclaredClasses()) {
                add(types, nested);
            }
        }
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    /** A type and its members, in alphabetical order. */
    private static String describe(Class<?> type) {
        TreeSet<String> members = new TreeSet<>();
        for (Field field : type.getDeclaredFields()) {
            if (isVisible(field.getModifiers())) {
                members.add(field.toGenericString() + constant(field));
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (isVisible(constructor.getModifiers()) && !isFinal(type)) {
                members.add(constructor.toGenericString());
            }
        }
        // Those that it inherits from classes of this package, too.
        for (Class<?> c = type; isOfPackage(c); c = c.getSuperclass()) {
            for (Method method : c.getDeclaredMethods()) {
                boolean isProtected = Modifier.isProtected(method.getModifiers());
                if (isVisible(method.getModifiers())
                        && !method.isSynthetic()
                        && !(isProtected && isFinal(type))) {
                    Object standard = method.getDefaultValue();
                    members.add(method.toGenericString()
                            + (standard == null ? "" : " default \"" + standard + "\""));
                }
            }
        }
        String interfaces = Arrays.stream(type.getGenericInterfaces())
                .map(Type::getTypeName)
                .map(name -> " implements " + name)
                .collect(Collectors.joining());
        return header(type) + interfaces + "\n"
                + members.stream()
                        .map(m -> "  " + m.replace(type.getName() + ".", "") + "\n")
                        .collect(Collectors.joining());
    }

    private static boolean isOfPackage(Class<?> type) {
        return type != null && PACKAGES.contains(type.getPackageName());
    }

    private static String header(Class<?> type) {
        int implied = type.isInterface() ? Modifier.INTERFACE | Modifier.ABSTRACT : 0;
        return Modifier.toString(type.getModifiers() & ~implied)
                + (type.isSealed() ? " sealed " : " ")
                + (type.isAnnotation()
                        ? "@interface "
                        : type.isInterface() ? "interface " : "class ")
                + type.getName();
    }

    private static boolean isFinal(Class<?> type) {
        return Modifier.isFinal(type.getModifiers());
    }

    private static String constant(Field field) {
        try {
            return Modifier.isStatic(field.getModifiers()) ? " = \"" + field.get(null) + "\"" : "";
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
