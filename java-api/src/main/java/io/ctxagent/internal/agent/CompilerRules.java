package io.ctxagent.internal.agent;

/**
 * What the code of a scope must do so that C2 compiles it well. Code that looks odd cites a rule
 * from here. Each rule ends with the benchmark that gets slower without it: a method of {@code
 * ScopeBench}, run by {@code scripts/bench-java.sh}. "After all" means the parameter {@code
 * before=all}: the benchmark runs after all others were compiled in the same VM.
 *
 * <ol>
 * <li><b>Constants.</b> All numbers of the layout, and all tables, are static final fields of
 * classes that are initialised only if the agent is loaded. So C2 folds them into the code. {@code
 * one}.
 * <li><b>One base register.</b> The address of the slab ({@code Slab.origin}) is not a constant.
 * C2 would fold a constant into the address of each field: nine 64-bit constants in a scope. {@code
 * eightValues}.
 * <li><b>Nothing escapes.</b> Scopes and builders have numbered fields instead of arrays. Slow
 * paths are static methods that get the values of these fields, not the object. So escape analysis
 * removes the objects. {@code one}, {@code eightValues} with {@code -prof gc}: 0 B/op.
 * <li><b>A builder reads its size first and stores it last.</b> If a method returns a builder, the
 * builder is on the heap in that method, and C2 must assume that every call may change its fields.
 * {@code where(...).where(...)} stores the size at the end of the first call and loads it at the
 * beginning of the second. There is no call in between, so C2 knows the size, and keeps one case of
 * the switch over eight fields. With all eight cases the method is too large to be inlined. A final
 * field does not help: its barrier has the effect of a call. {@code eightFromHelper}.
 * <li><b>Short code.</b> A method whose compiled code exceeds 2,500 bytes is not inlined into its
 * callers, and then the scope is allocated on the heap. So large code that rarely runs must stay
 * out of the scope's code: such a method first calls itself {@link #KEEP_CALL} times, and C2
 * inlines a method into itself only once, so a call remains. And a branch of which one way never
 * ran takes 50 to 100 bytes for that way, where C2 stores all that the interpreter needs to go on:
 * so what can be computed has no branch, and eight entries are stored under one {@code switch}.
 * {@code raw16}, {@code sevenValues}, and {@code one} after all.
 * <li><b>Ids are looked up where values are added.</b> The scope then stores numbers and its code
 * is short enough. With eight look-ups in the scope it would not be. {@code eightValues}: 0 B/op.
 * <li><b>A key's kind is its class.</b> C2 knows the class of a constant key, but not its fields. A
 * branch on a field has one profile for all keys: once one key has raw values, every scope contains
 * the code for them. {@code one} after all: 9 ns instead of 5.
 * <li><b>One table of recent values for all keys.</b> It is a constant, so C2 knows its length and
 * drops the bounds check. Only the first of a value's two places is looked at inline. A method call
 * per lookup would be worse: across a call, C2 must keep the state of all open scopes on the stack.
 * {@code oneOfSixteenValues}.
 * <li><b>The loop that copies a raw value is not unrolled.</b> Its exit is in the middle of the
 * body, which prevents that. Unrolled, it would double the code of a scope. {@code raw36}.
 * <li><b>A publication does not wait for the one before.</b> Its sequence number is computed from
 * the serial of the scope. To increment the number in the block, the CPU would have to load what it
 * has just stored. {@code one}, {@code oneNested}.
 * <li><b>A load is not wider than the store before it.</b> The CPU forwards a part of what was
 * stored to a load, but not a long that two stores made. So an id and its stamp are stored as one
 * long. {@code oneNested}.
 * <li><b>Direct memory.</b> An access through a buffer or a handle adds 115 to 750 nodes to C2's
 * graph, and above 18,000 nodes C2 inlines nothing more. All shapes, with {@code
 * -Dio.ctxagent.memory=checked}. The direct access checks the block, not block plus offset: of
 * several checks of one block C2 keeps the first.
 * </ol>
 */
public final class CompilerRules {
    /** Calls of a method to itself that keep it a call (rule 5). */
    public static final int KEEP_CALL = 2;

    private CompilerRules() {}
}
