package datadog.context;

public interface ContextScope {
    Context context();
}
