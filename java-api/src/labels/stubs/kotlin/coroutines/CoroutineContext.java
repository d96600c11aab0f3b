package kotlin.coroutines;

public interface CoroutineContext {}
