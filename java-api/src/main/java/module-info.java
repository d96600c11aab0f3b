/** Thread context for recordings, see {@link io.ctxagent}. */
module io.ctxagent {
    requires static transitive jdk.jfr;
    requires static java.management;
    requires static jdk.management;

    exports io.ctxagent;
    exports io.ctxagent.observe;

    uses io.ctxagent.ContextRegistration;
}
