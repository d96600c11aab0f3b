// release: 25

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Whether each caller of a stack invokes, at its bytecode index, a method of the callee's name.
 * Each line of the file {@code args[1]} is a pair: class, method, descriptor and index of the
 * caller, name of the callee, and how often it was met. The classes are those of the JDK at
 * {@code args[0]}.
 */
public final class CallPairs {
    /** What the VM calls while it executes an instruction. */
    private static final Set<String> BY_THE_VM = Set.of(
            "<clinit>",
            "loadClass",
            "checkPackageAccess",
            "linkCallSite",
            "linkMethod",
            "linkMethodHandleConstant",
            "linkDynamicConstant",
            "findMethodHandleType",
            "transformedByAgent");
    /** Their methods call what the arguments say. */
    private static final Set<String> OF_ANY_NAME =
            Set.of("java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle");

    private final Map<String, Optional<ClassModel>> classes = new HashMap<>();
    private final FileSystem jdk;
    private int right;
    private int unknown;
    private int wrong;

    private CallPairs(String home) throws IOException {
        jdk = FileSystems.newFileSystem(URI.create("jrt:/"), Map.of("java.home", home));
    }

    public static void main(String[] args) throws IOException {
        CallPairs pairs = new CallPairs(args[0]);
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            pairs.check(line.split("\t"));
        }
        System.out.println("right: " + pairs.right);
        System.out.println("unknown: " + pairs.unknown);
        System.out.println("wrong: " + pairs.wrong);
    }

    private void check(String[] pair) throws IOException {
        int count = Integer.parseInt(pair[5]);
        List<Instruction> at = instructionsAt(pair[0], pair[1], pair[2], Integer.parseInt(pair[3]));
        if (at.isEmpty()) {
            unknown += count;
        } else if (BY_THE_VM.contains(pair[4]) || at.stream().anyMatch(i -> calls(i, pair[4]))) {
            right += count;
        } else {
            wrong += count;
            System.out.println(String.join(" ", pair) + ": " + at.get(0));
        }
    }

    private static boolean calls(Instruction instruction, String name) {
        return switch (instruction) {
            case InvokeDynamicInstruction dynamic -> true;
            case InvokeInstruction invoke ->
                invoke.name().equalsString(name)
                        || OF_ANY_NAME.contains(invoke.owner().asInternalName());
            default -> false;
        };
    }

    /** The instruction at a bytecode index; none if the method is not in the JDK. */
    private List<Instruction> instructionsAt(String owner, String name, String type, int index)
            throws IOException {
        List<Instruction> found = new ArrayList<>();
        Optional<ClassModel> model = classOf(owner);
        for (MethodModel method : model.map(ClassModel::methods).orElse(List.of())) {
            if (method.methodName().equalsString(name)
                    && method.methodType().equalsString(type)
                    && method.code().isPresent()) {
                int at = 0;
                for (var element : method.code().get()) {
                    if (element instanceof Instruction instruction) {
                        if (at == index) {
                            found.add(instruction);
                        }
                        at += instruction.sizeInBytes();
                    }
                }
            }
        }
        return found;
    }

    private Optional<ClassModel> classOf(String name) throws IOException {
        Optional<ClassModel> known = classes.get(name);
        if (known == null) {
            known = read(name);
            classes.put(name, known);
        }
        return known;
    }

    private Optional<ClassModel> read(String name) throws IOException {
        int end = name.lastIndexOf('/');
        if (end < 0) {
            return Optional.empty();
        }
        Path modules = jdk.getPath("/packages", name.substring(0, end).replace('/', '.'));
        if (!Files.exists(modules)) {
            return Optional.empty();
        }
        try (Stream<Path> all = Files.list(modules)) {
            for (Path module : all.toList()) {
                Path file =
                        jdk.getPath("/modules", module.getFileName().toString(), name + ".class");
                if (Files.exists(file)) {
                    try (InputStream bytes = Files.newInputStream(file)) {
                        return Optional.of(ClassFile.of().parse(bytes.readAllBytes()));
                    }
                }
            }
        }
        return Optional.empty();
    }
}
