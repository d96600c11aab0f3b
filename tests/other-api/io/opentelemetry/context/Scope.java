package io.opentelemetry.context;

public interface Scope {}
