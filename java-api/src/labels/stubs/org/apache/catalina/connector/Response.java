package org.apache.catalina.connector;

public class Response {}
