package io.netty.channel;

import io.netty.util.AttributeMap;

public interface Channel extends AttributeMap {}
