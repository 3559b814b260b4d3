-- Rate limits and guess limits. Keys are hashes: neither addresses nor emails stand here.

CREATE TABLE limit_buckets (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX limit_buckets_by_fill ON limit_buckets (full_at);

CREATE TABLE limit_failures (
    key              BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    failures         INTEGER NOT NULL,
    since            INTEGER NOT NULL,
    blocked_until    INTEGER NOT NULL,
    remembered_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX limit_failures_by_end ON limit_failures (remembered_until);

CREATE TABLE known_clients (
    key         BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    known_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX known_clients_by_end ON known_clients (known_until);
