package datadog.context;

public interface Context {}
