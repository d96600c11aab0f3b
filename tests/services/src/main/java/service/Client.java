package service;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;

/** Asks a service, and reads the whole answer. */
final class Client {
    private final String base;

    Client(String base) {
        this.base = base;
    }

    void get(String path) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(base + path).toURL().openConnection();
        boolean isError = connection.getResponseCode() >= 400;
        try (InputStream answer =
                isError ? connection.getErrorStream() : connection.getInputStream()) {
            if (answer != null) {
                answer.readAllBytes();
            }
        }
    }
}
