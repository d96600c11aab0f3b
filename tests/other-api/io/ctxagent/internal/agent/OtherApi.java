package io.ctxagent.internal.agent;

import java.io.File;

/**
 * Does at first use what two copies of the API do that this agent cannot serve. Ends when there is
 * a file {@code done} in the working directory.
 */
public final class OtherApi {
    private static final int WANTED = 99;

    private OtherApi() {}

    public static void main(String[] args) throws Exception {
        if (Native.abi() != WANTED) {
            Native.refused(WANTED);
        }
        try {
            System.out.println("renamed " + com.acme.io.ctxagent.internal.agent.Native.abi());
        } catch (UnsatisfiedLinkError notFound) {
            System.out.println("renamed: no agent");
        }
        System.out.println("ready");
        while (!new File("done").exists()) {
            Thread.sleep(10); // a condition with the test's time limit
        }
    }
}
