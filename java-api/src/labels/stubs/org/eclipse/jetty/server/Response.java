package org.eclipse.jetty.server;

public interface Response {
    int getStatus();
}
