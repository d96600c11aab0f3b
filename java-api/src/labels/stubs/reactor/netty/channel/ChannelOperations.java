package reactor.netty.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;

public class ChannelOperations<I, O> {
    public final Channel channel() {
        return null;
    }

    protected void onInboundNext(ChannelHandlerContext context, Object message) {}
}
