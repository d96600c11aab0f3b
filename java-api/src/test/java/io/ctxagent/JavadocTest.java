package io.ctxagent;

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.Assume;
import org.junit.Test;

/**
 * What the documentation of the public API must say. That every member has a comment, and every
 * parameter, result and exception a line, the task {@code javadoc} checks with doclint; here is
 * what that does not know: null, threads, and life without the agent.
 */
public class JavadocTest {
    private static final List<Path> SOURCES = List.of(
            Path.of("src/main/java/io/ctxagent"), Path.of("src/main/java/io/ctxagent/observe"));
    private static final Pattern MEMBER = Pattern.compile(
            "/\\*\\*((?:(?!\\*/).)*)\\*/\\s*((?:@\\w+(?:\\([^)]*\\))?\\s*)*)public "
                    + "([^;{=]*?)\\s*[;{]",
            Pattern.DOTALL);
    private static final Set<String> PRIMITIVE = Set.of("void", "boolean", "int", "long", "double");

    private static List<Path> publicTypes() throws IOException {
        List<Path> types = new ArrayList<>();
        for (Path sources : SOURCES) {
            Assume.assumeTrue("run where the sources are", Files.isDirectory(sources));
            try (Stream<Path> files = Files.list(sources)) {
                files.filter(file -> file.toString().endsWith(".java") && isPublic(file))
                        .forEach(types::add);
            }
        }
        return types;
    }

    private static boolean isPublic(Path file) {
        String name = file.getFileName().toString().replace(".java", "");
        return Pattern.compile("^public .*\\b" + name + "\\b", Pattern.MULTILINE)
                .matcher(read(file))
                .find();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    public void referencesDocumentNull() throws IOException {
        List<String> silent = new ArrayList<>();
        int checked = 0;
        for (Path file : publicTypes()) {
            Matcher member = MEMBER.matcher(read(file));
            while (member.find()) {
                if (!member.group(2).contains("@Override") && member.group(3).contains("(")) {
                    check(
                            file.getFileName() + ": " + member.group(3).replaceAll("\\s+", " "),
                            member.group(1),
                            member.group(3),
                            silent);
                    checked++;
                }
            }
        }
        assertTrue("found " + checked + " public methods", checked > 45);
        assertTrue(String.join("\n", silent), silent.isEmpty());
    }

    private static void check(
            String where, String comment, String declaration, List<String> silent) {
        String head = declaration
                .substring(0, declaration.indexOf('('))
                .replaceAll("<[^(]*?> ", " ")
                .trim();
        String[] words = head.split("\\s+");
        String result = words.length > 1 ? words[words.length - 2] : "void";
        String said = tag(comment, "@return");
        if (words.length > 1
                && !PRIMITIVE.contains(result)
                && !said.matches("(?s).*(null|this builder|returned).*")) {
            silent.add(where + ": the result");
        }
        String parameters = declaration
                .substring(declaration.indexOf('(') + 1, declaration.lastIndexOf(')'))
                .replaceAll("<[^()]*>", "");
        for (String parameter : parameters.isBlank() ? new String[0] : parameters.split(",")) {
            String[] typeAndName = parameter.trim().split("\\s+");
            String name = typeAndName[typeAndName.length - 1];
            if (!PRIMITIVE.contains(typeAndName[0])
                    && !tag(comment, "@param " + name).matches("(?s).*(null|as for).*")) {
                silent.add(where + ": " + name);
            }
        }
    }

    /** What follows a tag, up to the next one. */
    private static String tag(String comment, String tag) {
        return Arrays.stream(comment.split("\n\\s*\\*\\s*(?=@)"))
                .filter(part -> part.startsWith(tag + " ") || part.startsWith(tag + "\n"))
                .findFirst()
                .map(JavadocTest::unwrapped)
                .orElse("");
    }

    /** The text of a comment without its line breaks. */
    private static String unwrapped(String comment) {
        return comment.replaceAll("\\s*\n\\s*\\*\\s*", " ");
    }

    @Test
    public void typesDocumentThreadsAndMissingAgent() throws IOException {
        List<String> silent = new ArrayList<>();
        for (Path file : publicTypes()) {
            String text = read(file);
            String comment = unwrapped(
                    text.substring(text.indexOf("/**"), text.indexOf("*/", text.indexOf("/**"))));
            if (!comment.matches("(?s).*(?i:threads?)\\b.*")) {
                silent.add(file.getFileName() + ": threads");
            }
            if (!comment.matches("(?s).*(?i:without (the|an) agent|no agent).*")) {
                silent.add(file.getFileName() + ": without the agent");
            }
        }
        assertTrue(String.join("\n", silent), silent.isEmpty());
    }
}
