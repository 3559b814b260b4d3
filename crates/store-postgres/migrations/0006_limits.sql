-- Rate limits and guess limits. Keys are hashes: neither addresses nor emails stand here.

CREATE TABLE limit_buckets (
    key     BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(key) = 16),
    full_at BIGINT NOT NULL
);

CREATE INDEX limit_buckets_by_fill ON limit_buckets (full_at);

CREATE TABLE limit_failures (
    key              BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(key) = 16),
    failures         BIGINT NOT NULL,
    since            BIGINT NOT NULL,
    blocked_until    BIGINT NOT NULL,
    remembered_until BIGINT NOT NULL
);

CREATE INDEX limit_failures_by_end ON limit_failures (remembered_until);

CREATE TABLE known_clients (
    key         BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(key) = 16),
    known_until BIGINT NOT NULL
);

CREATE INDEX known_clients_by_end ON known_clients (known_until);
