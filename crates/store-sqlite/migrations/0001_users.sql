-- Accounts, their credentials and their linked identities.
-- Ids are 16 bytes, times are milliseconds since 1970 in UTC, flags are 0 or 1, JSON is text.

CREATE TABLE users (
    id                BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    email             TEXT    NOT NULL,
    email_key         TEXT    NOT NULL UNIQUE,
    email_verified    INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
    first_verified_at INTEGER,
    pending           INTEGER NOT NULL CHECK (pending IN (0, 1)),
    contested         INTEGER NOT NULL CHECK (contested IN (0, 1)),
    banned_at         INTEGER,
    metadata          TEXT    NOT NULL,
    locale            TEXT,
    pending_email     TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;

CREATE INDEX users_by_age ON users (created_at, id);

CREATE TABLE credentials (
    user_id    BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE identities (
    provider   TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_by_user ON identities (user_id, provider);
