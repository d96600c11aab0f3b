package shop;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The shop's data in an embedded database. Its size is fixed, so that the cost of a request does
 * not change with time.
 */
final class Store {
    static final int PRODUCTS = 3_000;
    private static final int ORDERS = 8_000;
    private static final int CONNECTIONS = 8;
    private static final List<String> TENANTS = List.of("acme", "globex", "initech", "umbrella");
    private static final String[] ADJECTIVES = {
        "red", "blue", "green", "small", "large", "wooden", "round", "folding"
    };
    private static final String[] NOUNS = {
        "chair", "table", "lamp", "shelf", "desk", "stool", "bed", "cupboard"
    };

    private final BlockingQueue<Connection> idle = new ArrayBlockingQueue<>(CONNECTIONS);
    private final AtomicLong orders = new AtomicLong();

    Store() throws SQLException {
        String url = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
        for (int i = 0; i < CONNECTIONS; i++) {
            idle.add(DriverManager.getConnection(url));
        }
        with(this::fill);
    }

    /**
     * The tenant of that name, without a copy for each request; {@code guest} for names that we do
     * not serve.
     */
    static String knownTenant(String name) {
        int at = name == null ? -1 : TENANTS.indexOf(name);
        return at < 0 ? "guest" : TENANTS.get(at);
    }

    List<Map<String, Object>> search(String tenant, String query) throws SQLException {
        String word = query == null
                ? ""
                : query.substring(query.indexOf('=') + 1).toLowerCase(Locale.ROOT);
        return with(c -> rows(
                c,
                "select id, name, price from product where name like ? order by price, id "
                        + "limit 10",
                "%" + word + "%"));
    }

    /** The product, and others of its kind that cost about as much. */
    List<Map<String, Object>> product(long id) throws SQLException {
        return with(c -> rows(
                c,
                "select o.id, o.name, o.price, o.stock from product p join product o on "
                        + "o.kind = p.kind "
                        + "where p.id = ? order by abs(o.price - p.price), o.id limit 5",
                id % PRODUCTS));
    }

    /** Takes the place of an old order, so that there are always as many. */
    Map<String, Object> order(String tenant, long product) throws SQLException {
        long number = orders.getAndIncrement() % ORDERS;
        return with(c -> {
            update(
                    c,
                    "update product set stock = mod(stock + 99, 100) where id = ?",
                    product % PRODUCTS);
            update(
                    c,
                    "merge into orders (id, tenant, product, amount) key (id) values (?, ?, ?, "
                            + "?)",
                    number,
                    tenant,
                    product % PRODUCTS,
                    1 + product % 3);
            return rows(
                            c,
                            "select o.id, p.name, o.amount, o.amount * p.price as total from"
                                    + " orders o join product p on p.id = o.product where o.id = ?",
                            number)
                    .get(0);
        });
    }

    List<Map<String, Object>> report(String tenant) throws SQLException {
        return with(c -> rows(
                c,
                "select p.kind, count(*) as orders, sum(o.amount * p.price) as revenue from orders"
                        + " o join product p on p.id = o.product where o.tenant = ? group by p.kind"
                        + " order by revenue desc",
                tenant));
    }

    // ---- the database ---------------------------------------------------------------------------

    private Void fill(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("create table product (id bigint primary key, kind varchar, name varchar, "
                    + "price bigint, stock int)");
            s.execute("create table orders (id bigint primary key, tenant varchar, product bigint, "
                    + "amount int)");
            s.execute("create index orders_tenant on orders (tenant)");
        }
        Random random = new Random(1);
        for (long id = 0; id < PRODUCTS; id++) {
            String noun = NOUNS[random.nextInt(NOUNS.length)];
            String name = ADJECTIVES[random.nextInt(ADJECTIVES.length)] + " " + noun + " " + id;
            update(
                    c,
                    "insert into product values (?, ?, ?, ?, ?)",
                    id,
                    noun,
                    name,
                    500 + random.nextInt(50_000),
                    100);
        }
        for (long id = 0; id < ORDERS; id++) {
            update(
                    c,
                    "insert into orders values (?, ?, ?, ?)",
                    id,
                    TENANTS.get(random.nextInt(TENANTS.size())),
                    (long) random.nextInt(PRODUCTS),
                    1 + random.nextInt(3));
        }
        return null;
    }

    private <R> R with(Work<R> work) throws SQLException {
        Connection c;
        try {
            c = idle.take();
        } catch (InterruptedException e) {
            throw new SQLException("interrupted while waiting for a connection", e);
        }
        try {
            return work.on(c);
        } finally {
            idle.add(c);
        }
    }

    private static void update(Connection c, String sql, Object... arguments) throws SQLException {
        try (PreparedStatement s = prepare(c, sql, arguments)) {
            s.executeUpdate();
        }
    }

    private static List<Map<String, Object>> rows(Connection c, String sql, Object... arguments)
            throws SQLException {
        try (PreparedStatement s = prepare(c, sql, arguments);
                ResultSet result = s.executeQuery()) {
            ResultSetMetaData columns = result.getMetaData();
            List<Map<String, Object>> rows = new ArrayList<>();
            while (result.next()) {
                Map<String, Object> row = new LinkedHashMap<>();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    row.put(
                            columns.getColumnLabel(i).toLowerCase(Locale.ROOT),
                            result.getObject(i));
                }
                rows.add(row);
            }
            return rows;
        }
    }

    private static PreparedStatement prepare(Connection c, String sql, Object... arguments)
            throws SQLException {
        PreparedStatement s = c.prepareStatement(sql);
        for (int i = 0; i < arguments.length; i++) {
            s.setObject(i + 1, arguments[i]);
        }
        return s;
    }

    /** Something to do with a connection. */
    private interface Work<R> {
        R on(Connection c) throws SQLException;
    }
}
