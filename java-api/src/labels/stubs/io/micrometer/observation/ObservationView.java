package io.micrometer.observation;

public interface ObservationView {
    Observation.ContextView getContextView();
}
