package org.eclipse.jetty.server;

public interface Request {
    String getMethod();
}
