package io.ctxagent.observe;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import io.ctxagent.internal.observe.EntrySource;
import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObserverHub;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Collections as the VM tells its management: on a thread of the VM, after the collection. Only
 * while somebody observes them.
 */
final class GcEntries implements EntrySource, NotificationListener {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int MAX_READINGS = 10;

    private final GcPauses pauses = new GcPauses();

    @Override
    public void turn(boolean on) {
        pauses.turn(on);
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (bean instanceof NotificationEmitter) {
                turn((NotificationEmitter) bean, on);
            }
        }
    }

    @Override
    public void poll() {
        pauses.poll();
    }

    private void turn(NotificationEmitter bean, boolean on) {
        try {
            if (on) {
                bean.addNotificationListener(this, null, null);
            } else {
                bean.removeNotificationListener(this);
            }
        } catch (ListenerNotFoundException nobodyListened) {
            // Nothing is to be removed.
        }
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        boolean isCollection = notification
                .getType()
                .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION);
        if (isCollection && ObserverHub.isObserved(EntryType.GC.ordinal())) {
            CompositeData data = (CompositeData) notification.getUserData();
            // The VM made it at the end of the collection.
            long end = nanosAt(notification.getTimeStamp());
            publish(GarbageCollectionNotificationInfo.from(data), end);
        }
    }

    /** That time on the other clock. Both are read again if the thread lost its CPU in between. */
    private static long nanosAt(long millis) {
        for (int reading = 1; ; reading++) {
            long before = System.nanoTime();
            long ago = System.currentTimeMillis() - millis;
            long now = System.nanoTime();
            if (now - before < NANOS_PER_MILLI || reading == MAX_READINGS) {
                return now - NANOS_PER_MILLI * ago;
            }
        }
    }

    private void publish(GarbageCollectionNotificationInfo info, long end) {
        GcInfo times = info.getGcInfo();
        long begin = end - NANOS_PER_MILLI * times.getDuration();
        Set<GcDetail.Flag> flags = flags(info);
        boolean isConcurrent = flags.contains(GcDetail.Flag.CONCURRENT);
        long[] measured = isConcurrent ? null : pauses.take(begin, end);
        long start = measured == null ? begin : measured[0];
        long length = (measured == null ? end : measured[1]) - start;
        long pause = measured == null ? isConcurrent ? 0 : length : measured[2];
        GcDetail detail = new GcDetail(kind(info), flags, info.getGcCause(), times.getId(), pause);
        ObserverHub.publish(new ObservedEntry(
                EntryType.GC.ordinal(), info.getGcName(), start, length, detail, null));
    }

    /** The names of collectors that say more than the action do so by these words. */
    private static GcDetail.Kind kind(GarbageCollectionNotificationInfo info) {
        String action = info.getGcAction();
        if (info.getGcName().contains("Minor") || action.equals("end of minor GC")) {
            return GcDetail.Kind.MINOR;
        }
        return action.equals("end of major GC") || info.getGcName().contains("Major")
                ? GcDetail.Kind.MAJOR
                : GcDetail.Kind.UNKNOWN;
    }

    private static Set<GcDetail.Flag> flags(GarbageCollectionNotificationInfo info) {
        Set<GcDetail.Flag> flags = EnumSet.noneOf(GcDetail.Flag.class);
        String name = info.getGcName();
        if (name.contains("Concurrent") || name.endsWith("Cycles")) {
            flags.add(GcDetail.Flag.CONCURRENT);
        }
        switch (info.getGcCause()) {
            case "System.gc()":
            case "Diagnostic Command":
            case "Heap Inspection Initiated GC":
            case "Heap Dump Initiated GC":
            case "JvmtiEnv ForceGarbageCollection":
            case "WhiteBox Initiated Full GC":
                flags.add(GcDetail.Flag.FORCED);
                break;
            case "Allocation Failure":
            case "Allocation Stall":
                flags.add(GcDetail.Flag.ALLOCATION_FAILURE);
                break;
            default:
                break;
        }
        return Collections.unmodifiableSet(flags);
    }
}
