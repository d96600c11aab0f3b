package reactor.netty.channel;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;

/**
 * Reactor Netty: a channel has one request at a time, whose parts come one after the other to its
 * event loop, which works for other channels in between. The channel keeps the labels. In this
 * package because the method that is called is not public.
 */
public final class CtxagentCalls {
    private static final int SOURCE = Labels.NETTY;
    private static final AttributeKey<Object> LABELS = AttributeKey.valueOf("io.ctxagent.labels");

    /** Programs that do not speak HTTP may lack its classes. */
    private static final boolean HAS_HTTP = hasHttp();

    private CtxagentCalls() {}

    private static boolean hasHttp() {
        try {
            return HttpRequest.class.isInterface();
        } catch (LinkageError absent) {
            return false;
        }
    }

    /** In place of {@code ChannelOperations.onInboundNext}. */
    public static void onInboundNext(
            ChannelOperations<?, ?> operations, ChannelHandlerContext context, Object message) {
        boolean isRequest = HAS_HTTP && Labels.isOn(SOURCE) && message instanceof HttpRequest;
        Object scope = isRequest ? open((HttpRequest) message) : resume(operations);
        try {
            operations.onInboundNext(context, message);
        } finally {
            if (isRequest) {
                keep(operations);
            }
            Labels.close(SOURCE, scope);
        }
    }

    /** A client sends a request: its response is for who is at work now. */
    public static void sends(Object operations) {
        if (Labels.isOn(SOURCE)) {
            keep((ChannelOperations<?, ?>) operations);
        }
    }

    private static Object open(HttpRequest request) {
        try {
            return Labels.open(SOURCE, HttpOperation.of(request.method().name(), null));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }

    private static Object resume(ChannelOperations<?, ?> operations) {
        if (!Labels.isOn(SOURCE)) {
            return null;
        }
        try {
            Object labels = labels(operations).get();
            return labels == null ? null : Labels.resume(SOURCE, labels);
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }

    private static void keep(ChannelOperations<?, ?> operations) {
        try {
            labels(operations).set(Labels.capture(SOURCE));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }

    private static Attribute<Object> labels(ChannelOperations<?, ?> operations) {
        Channel channel = operations.channel();
        return channel.attr(LABELS);
    }
}
