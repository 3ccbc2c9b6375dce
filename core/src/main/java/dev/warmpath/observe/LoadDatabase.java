package dev.warmpath.observe;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.sqlite.JDBC;

/**
 * The SQLite file of a {@link LoadHistory}: write-ahead log, so that a killed process loses no
 * commit and readers wait for nobody; {@code user_version} numbers the schema. The only class that
 * names the driver, which may be absent. Not thread safe.
 *
 * <p>Rows stand in the order of worker and time, without a row id: a worker's last day is one
 * stretch of the file, and so is what is pruned.
 */
final class LoadDatabase implements AutoCloseable {
  static final int SCHEMA = 1;

  private static final String COLUMNS =
      "state, share, running, waiting, used_tokens, kv_usage, hit_rate, tokens_per_s, in_flight,"
          + " first_byte_ms, telemetry_age_ms";

  private final Connection connection;
  private final Map<String, Long> workers = new HashMap<>();

  private LoadDatabase(Connection connection) {
    this.connection = connection;
  }

  /**
   * Opens the file for writing, making it and its tables where there are none.
   *
   * @throws SQLException when it can't be written, is no such database, or is of a newer schema
   */
  static LoadDatabase write(Path file) throws SQLException {
    return open(file, false);
  }

  /**
   * Opens the file for reading.
   *
   * @throws SQLException when it is no such database, or of another schema
   */
  static LoadDatabase read(Path file) throws SQLException {
    return open(file, true);
  }

  private static LoadDatabase open(Path file, boolean readOnly) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("busy_timeout", "5000");
    if (readOnly) {
      properties.setProperty("open_mode", "1");
    }
    Connection connection = JDBC.createConnection(JDBC.PREFIX + file.toAbsolutePath(), properties);
    if (connection == null) {
      throw new SQLException("no SQLite file name: " + file);
    }
    try {
      LoadDatabase database = new LoadDatabase(connection);
      database.prepare(readOnly);
      return database;
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private void prepare(boolean readOnly) throws SQLException {
    int version = count("PRAGMA user_version");
    if (version > SCHEMA || (readOnly && version != SCHEMA)) {
      throw new SQLException("schema " + version + " is not the one known here, " + SCHEMA);
    }
    if (readOnly) {
      return;
    }
    if (version == 0 && count("SELECT count(*) FROM sqlite_master") > 0) {
      throw new SQLException("it is another application's database");
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = NORMAL");
      connection.setAutoCommit(false);
      statement.execute(
          "CREATE TABLE IF NOT EXISTS worker (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)");
      statement.execute(
          "CREATE TABLE IF NOT EXISTS load (worker INTEGER NOT NULL REFERENCES worker, at INTEGER"
              + " NOT NULL, rank INTEGER NOT NULL, state TEXT NOT NULL, share REAL, running REAL,"
              + " waiting REAL, used_tokens REAL, kv_usage REAL, hit_rate REAL, tokens_per_s REAL,"
              + " in_flight INTEGER, first_byte_ms REAL, telemetry_age_ms REAL,"
              + " PRIMARY KEY (worker, at, rank)) WITHOUT ROWID");
      statement.execute("PRAGMA user_version = " + SCHEMA);
      connection.commit();
    }
  }

  private int count(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getInt(1) : 0;
    }
  }

  /** Writes a batch, all of it or nothing. */
  void write(List<LoadSample> batch) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT OR REPLACE INTO load (worker, at, rank, "
                + COLUMNS
                + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
      for (LoadSample sample : batch) {
        insert.setLong(1, id(sample.worker()));
        insert.setLong(2, sample.at().toEpochMilli());
        insert.setInt(3, sample.rank() == null ? -1 : sample.rank());
        insert.setString(4, sample.state());
        number(insert, 5, sample.share());
        number(insert, 6, sample.running());
        number(insert, 7, sample.waiting());
        number(insert, 8, sample.usedTokens());
        number(insert, 9, sample.usage());
        number(insert, 10, sample.hitRate());
        number(insert, 11, sample.tokensPerSecond());
        insert.setInt(12, sample.inFlight());
        number(insert, 13, sample.firstByteMillis());
        number(insert, 14, sample.ageMillis());
        insert.addBatch();
      }
      insert.executeBatch();
      connection.commit();
    } catch (SQLException e) {
      connection.rollback();
      throw e;
    }
  }

  private static void number(PreparedStatement insert, int column, double value)
      throws SQLException {
    if (Double.isNaN(value)) {
      insert.setNull(column, java.sql.Types.REAL);
    } else {
      insert.setDouble(column, value);
    }
  }

  private long id(String worker) throws SQLException {
    Long known = workers.get(worker);
    if (known != null) {
      return known;
    }
    try (PreparedStatement insert =
            connection.prepareStatement("INSERT OR IGNORE INTO worker (name) VALUES (?)");
        PreparedStatement select =
            connection.prepareStatement("SELECT id FROM worker WHERE name = ?")) {
      insert.setString(1, worker);
      insert.executeUpdate();
      select.setString(1, worker);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("the name of a worker was not kept");
        }
        workers.put(worker, row.getLong(1));
        return row.getLong(1);
      }
    }
  }

  /** Drops rows older than that, and names that have none left. */
  void prune(Instant before) throws SQLException {
    workers.clear();
    try (Statement names = connection.createStatement();
        PreparedStatement delete =
            connection.prepareStatement("DELETE FROM load WHERE worker = ? AND at < ?")) {
      List<Long> ids = new ArrayList<>();
      try (ResultSet rows = names.executeQuery("SELECT id FROM worker")) {
        while (rows.next()) {
          ids.add(rows.getLong(1));
        }
      }
      for (long id : ids) {
        delete.setLong(1, id);
        delete.setLong(2, before.toEpochMilli());
        delete.executeUpdate();
      }
      names.executeUpdate(
          "DELETE FROM worker WHERE NOT EXISTS (SELECT 1 FROM load WHERE load.worker = worker.id)");
      connection.commit();
    } catch (SQLException e) {
      connection.rollback();
      throw e;
    }
  }

  /** Rows from that moment on, by time. */
  List<LoadSample> rows(@Nullable String worker, Instant since) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT at, name, rank, "
                + COLUMNS
                + " FROM worker JOIN load ON load.worker = worker.id WHERE at >= ?"
                + (worker == null ? "" : " AND name = ?")
                + " ORDER BY at, name, rank")) {
      select.setLong(1, since.toEpochMilli());
      if (worker != null) {
        select.setString(2, worker);
      }
      List<LoadSample> samples = new ArrayList<>();
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          int rank = row.getInt(3);
          samples.add(
              new LoadSample(
                  Instant.ofEpochMilli(row.getLong(1)),
                  row.getString(2),
                  rank < 0 ? null : rank,
                  row.getString(4),
                  number(row, 5),
                  number(row, 6),
                  number(row, 7),
                  number(row, 8),
                  number(row, 9),
                  number(row, 10),
                  number(row, 11),
                  row.getInt(12),
                  number(row, 13),
                  number(row, 14)));
        }
      }
      return samples;
    }
  }

  private static double number(ResultSet row, int column) throws SQLException {
    double value = row.getDouble(column);
    return row.wasNull() ? Double.NaN : value;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
