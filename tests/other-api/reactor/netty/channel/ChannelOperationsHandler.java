package reactor.netty.channel;

import io.netty.channel.ChannelHandlerContext;

public class ChannelOperationsHandler {
    public final void channelRead(ChannelHandlerContext context, Object message) {
        new ChannelOperations<>().onInboundNext(context, message);
    }
}
