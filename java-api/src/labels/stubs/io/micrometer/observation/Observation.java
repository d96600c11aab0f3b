package io.micrometer.observation;

public interface Observation extends ObservationView {
    interface Scope {
        Observation getCurrentObservation();
    }

    interface ContextView {
        String getName();

        String getContextualName();

        ObservationView getParentObservation();
    }

    class Context {}
}
