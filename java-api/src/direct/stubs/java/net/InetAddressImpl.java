package java.net;

/** As of JDK 17, for compilers of later ones. */
interface InetAddressImpl {
    InetAddress[] lookupAllHostAddr(String host) throws UnknownHostException;
}
