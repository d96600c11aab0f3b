/** Thread context for recordings, see {@link io.ctxagent}. */
module io.ctxagent {
    requires static transitive jdk.jfr;

    exports io.ctxagent;

    uses io.ctxagent.ContextRegistration;
}
