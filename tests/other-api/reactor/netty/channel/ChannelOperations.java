package reactor.netty.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;

/** Of a program without HTTP. */
public class ChannelOperations<I, O> {
    public final Channel channel() {
        return new Channel() {
            @Override
            public <T> Attribute<T> attr(AttributeKey<T> key) {
                return new Attribute<>() {
                    @Override
                    public T get() {
                        return null;
                    }

                    @Override
                    public void set(T value) {}
                };
            }
        };
    }

    protected void onInboundNext(ChannelHandlerContext context, Object message) {
        System.out.println("read " + message);
    }
}
