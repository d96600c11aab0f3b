package io.ctxagent.bench.loads;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** H2 in memory, a database of its own for each worker: one update and one query with a sort. */
final class DatabaseWork implements Work {
    private static final int ROWS = 2_000;

    private final PreparedStatement update;
    private final PreparedStatement query;
    private int next;

    DatabaseWork(int number) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:h2:mem:load" + number);
        try (Statement create = connection.createStatement()) {
            create.execute(
                    "create table item (id int primary key, kind int, name varchar, price int)");
            create.execute("create index item_kind on item (kind)");
            create.execute(
                    "insert into item select x, mod(x, 50), concat('item ', x), mod(x * 7919, "
                            + "1000) from system_range(1, " + ROWS + ")");
        }
        update = connection.prepareStatement(
                "update item set price = mod(price + 7, 1000) where id = ?");
        query = connection.prepareStatement(
                "select id, name, price from item where kind = ? and name like ? order by price, "
                        + "id limit 10");
    }

    @Override
    public long once() throws SQLException {
        next = next % ROWS + 1;
        update.setInt(1, next);
        update.executeUpdate();
        query.setInt(1, next % 50);
        query.setString(2, "%" + next % 10 + "%");
        long sum = 0;
        try (ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                sum += rows.getInt(1) + rows.getString(2).length() + rows.getInt(3);
            }
        }
        return sum;
    }
}
