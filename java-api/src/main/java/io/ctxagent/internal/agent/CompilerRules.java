package io.ctxagent.internal.agent;

/**
 * What the hot path owes to the VM's optimising compiler, in one place. Code that looks odd cites
 * the rule; the benchmark behind each rule (a method of {@code ScopeBench}, run by {@code
 * scripts/bench-java.sh}) is what gets slower without it. "After all" means the parameter {@code
 * before=all}: after all other shapes were compiled in the same VM.
 *
 * <ol>
 * <li><b>Constants.</b> All numbers of the layout and all tables are static final fields of classes
 * that are initialised only when the agent is there; the compiler folds them into the code. {@code
 * one}.
 * <li><b>One base register.</b> The address of the slab is no constant ({@code Slab.origin}):
 * folded into each field's address it would be nine 64-bit constants in a scope. {@code
 * eightValues}.
 * <li><b>Nothing escapes.</b> Scopes and builders hold numbered fields and no array, and slow paths
 * are static methods that take their fields, so that escape analysis leaves the objects out. {@code
 * one}, {@code eightValues} with {@code -prof gc}: 0 B/op.
 * <li><b>A builder's size is read first and stored last.</b> A builder that a method returns lies
 * on the heap in that method's own code, where each call might change its fields. Between the store
 * and the next load nothing lies, so the compiler knows the number, and of eight places one is
 * left; with all eight a method is too large to be inlined. A final field would be a barrier, the
 * same as a call. {@code eightFromHelper}.
 * <li><b>Kept calls.</b> A method whose compiled code has more than 2 500 bytes is not inlined, and
 * a scope that is not inlined lies on the heap. Large rare code calls itself {@link #KEEP_CALL}
 * times first, since a method is inlined into itself only once. {@code raw16}, and {@code one}
 * after all.
 * <li><b>The VM's own methods where calls look rare.</b> In an application whose contexts mostly
 * have one attribute, the stores of the later ones look rare; then nothing is inlined but what the
 * VM marks itself ({@code DirectMemory.putInts}). {@code eightValues} after all.
 * <li><b>A key's kind is its class.</b> The compiler knows the class of a constant key, not its
 * fields, and keeps one profile for a branch for all keys. {@code one} after all: 9 ns instead of 5
 * once raw values are in use.
 * <li><b>One constant table of recent values.</b> Its length is known, so nothing is checked; a
 * call for each value would make the compiler keep what all other scopes hold on the stack. {@code
 * oneOfSixteenValues}.
 * <li><b>No unrolling of the raw copy.</b> The loop ends in its middle; unrolled, it would double
 * the code of a scope. {@code raw36}.
 * <li><b>No publication waits for the one before.</b> The number of a publication is made from a
 * serial; counted up in the block, it would be a load of what was just stored. {@code one}, {@code
 * oneNested}.
 * <li><b>Loads no wider than the store before.</b> A byte of what was stored as an int is forwarded
 * to the load, a long is not; single ids are stored as ints. {@code oneNested}.
 * <li><b>Direct memory.</b> An access through a buffer or a handle brings 115 to 750 nodes into the
 * compiler's graph, which past 18 000 inlines nothing more. All shapes, with {@code
 * -Dio.ctxagent.memory=checked}. The direct access checks the block and not the sum of block and
 * offset: the compiler keeps one check of the same block, and drops the others.
 * <li><b>An interrupted opening is found by the serial</b>, which is stored last: both numbers are
 * at hand, a load of the sequence costs a tenth of a scope. {@code one}.
 * </ol>
 */
public final class CompilerRules {
    /** Calls of a method to itself that keep it a call (rule 5). */
    public static final int KEEP_CALL = 2;

    private CompilerRules() {
    }
}
