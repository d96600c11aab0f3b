package io.micrometer.observation;

public interface ObservationConvention<T extends Observation.Context> {
    String getContextualName(T context);
}
