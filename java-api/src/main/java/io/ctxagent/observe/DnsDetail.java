package io.ctxagent.observe;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What is known of the look-up of a name besides its length and its attributes.
 *
 * <p>Threads: any, as it does not change. Without the agent: there is none.
 *
 * @since 0.1
 */
public final class DnsDetail {
    private final List<String> addresses;
    private final String failure;

    /** {@code found}: {@code null} if there is a failure. */
    DnsDetail(Object[] found, String failure) {
        addresses = found == null
                ? List.of()
                : Arrays.stream(found)
                        .map(address -> ((InetAddress) address).getHostAddress())
                        .collect(Collectors.toUnmodifiableList());
        this.failure = failure;
    }

    /**
     * The addresses of the host.
     *
     * @return the addresses in digits, not {@code null} and not to be changed; empty if it failed
     */
    public List<String> addresses() {
        return addresses;
    }

    /**
     * The class of the exception by which it failed.
     *
     * @return the name of the class, or {@code null} if it did not
     */
    public String failure() {
        return failure;
    }

    /**
     * Addresses or failure, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return failure == null ? addresses.toString() : "failed: " + failure;
    }
}
