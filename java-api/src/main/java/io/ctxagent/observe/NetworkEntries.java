package io.ctxagent.observe;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.observe.AgentSource;
import io.ctxagent.internal.observe.CurrentContext;
import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObserverHub;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Connects or look-ups of names: the agent has the JDK tell of them while somebody observes. */
final class NetworkEntries extends AgentSource implements Function<Object, Consumer<Object>> {
    private final EntryType type;

    NetworkEntries(EntryType type) {
        this.type = type;
    }

    @Override
    protected boolean tell(Agent agent, boolean on) {
        return agent.observeNetwork(type.ordinal() - EntryType.NET.ordinal(), this, on);
    }

    @Override
    public Consumer<Object> apply(Object subject) {
        return ObserverHub.isOwnThread() ? null : new Begun(subject);
    }

    private final class Begun implements Consumer<Object> {
        private final Object subject;
        private final long startNanos = System.nanoTime();
        private final Supplier<Map<String, String>> context = CurrentContext.copy();

        Begun(Object subject) {
            this.subject = subject;
        }

        @Override
        public void accept(Object outcome) {
            long nanos = System.nanoTime() - startNanos;
            String failure = outcome instanceof Throwable ? outcome.getClass().getName() : null;
            Object detail = type == EntryType.NET
                    ? new NetDetail(subject, failure)
                    : new DnsDetail(failure == null ? (Object[]) outcome : null, failure);
            ObserverHub.publish(new ObservedEntry(
                    type.ordinal(), name(subject), startNanos, nanos, detail, context));
        }
    }

    private static String name(Object subject) {
        if (!(subject instanceof InetSocketAddress)) {
            return subject.toString();
        }
        InetSocketAddress address = (InetSocketAddress) subject;
        return address.getHostString() + ':' + address.getPort();
    }
}
