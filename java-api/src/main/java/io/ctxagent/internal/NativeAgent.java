package io.ctxagent.internal;

import java.nio.ByteBuffer;

/** The agent library of this VM. */
final class NativeAgent implements Agent {
    @Override
    public int abi() {
        return Native.abi();
    }

    @Override
    public void refused(int wanted) {
        try {
            Native.refused(wanted);
        } catch (UnsatisfiedLinkError olderAgent) {
            // It cannot say so.
        }
    }

    @Override
    public long[] layout() {
        return Native.layout();
    }

    @Override
    public ByteBuffer slab() {
        return Native.slab();
    }

    @Override
    public int bindKey(String name) {
        return Native.bindKey(name);
    }

    @Override
    public int[] bindKeys(String[] names) {
        try {
            return Native.bindKeys(names);
        } catch (UnsatisfiedLinkError olderAgent) {
            int[] slots = new int[names.length];
            for (int i = 0; i < names.length; i++) {
                slots[i] = Native.bindKey(names[i]);
                if (slots[i] < 0) {
                    return null;
                }
            }
            return slots;
        }
    }

    @Override
    public void describeAttribute(int slot, String label, String description, String contextType) {
        try {
            Native.describeAttribute(slot, label, description, contextType);
        } catch (UnsatisfiedLinkError olderAgent) {
            // Its recordings show the names only.
        }
    }

    @Override
    public void filterWithoutContext(int mask) {
        try {
            Native.filterWithoutContext(mask);
        } catch (UnsatisfiedLinkError olderAgent) {
            // It records all threads without a context.
        }
    }

    @Override
    public int intern(int slot, String value) {
        return Native.intern(slot, value);
    }

    @Override
    public long currentThreadKey() {
        return Native.currentThreadKey();
    }

    @Override
    public boolean verifyVirtual(long threadId) {
        return Native.verifyVirtual(threadId);
    }

    @Override
    public boolean openMemory(Module module) {
        try {
            return Native.openMemory(module);
        } catch (UnsatisfiedLinkError olderAgent) {
            return false;
        }
    }

    @Override
    public void count(int event) {
        Native.count(event);
    }

    @Override
    public String execute(String options) {
        return Native.execute(options);
    }
}
