package org.apache.coyote;

public final class Response {
    public int getStatus() {
        return 0;
    }
}
