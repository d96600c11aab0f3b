package service;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** Asks a service, and reads the whole answer. */
final class Client {
    private final String base;

    Client(String base) {
        this.base = base;
    }

    void get(String path) {
        ask(path, null);
    }

    void post(String path, String body) {
        ask(path, body);
    }

    private void ask(String path, String body) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create(base + path).toURL().openConnection();
            if (body != null) {
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "text/plain");
                connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            }
            readAnswer(connection);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void readAnswer(HttpURLConnection connection) throws IOException {
        boolean isError = connection.getResponseCode() >= 400;
        try (InputStream answer =
                isError ? connection.getErrorStream() : connection.getInputStream()) {
            if (answer != null) {
                answer.readAllBytes();
            }
        }
    }
}
