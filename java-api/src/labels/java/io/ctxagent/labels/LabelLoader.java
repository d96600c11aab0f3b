package io.ctxagent.labels;

/** Loads the agent's copy of the Java API. The application sees none of its classes. */
final class LabelLoader extends ClassLoader {
    LabelLoader() {
        super(null);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] bytes = Labels.classFile(name);
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }
}
