package org.eclipse.jetty.util;

public interface Callback {}
