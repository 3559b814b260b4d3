-- The audit trail. It outlives the users it is about, so it has no foreign key to them.

CREATE TABLE audit_events (
    id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    happened_at INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    user_id     BLOB,
    session_id  BLOB,
    address     TEXT,
    user_agent  TEXT,
    details     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
