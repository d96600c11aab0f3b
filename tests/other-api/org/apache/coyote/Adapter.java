package org.apache.coyote;

public interface Adapter {
    void service(Request request, Response response) throws Exception;
}
