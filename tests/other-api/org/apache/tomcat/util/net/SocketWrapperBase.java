package org.apache.tomcat.util.net;

public final class SocketWrapperBase {}
