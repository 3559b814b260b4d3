-- What all instances share: settings, signing keys, and a version that grows with every change of either.

CREATE TABLE settings (
    key        TEXT    NOT NULL PRIMARY KEY,
    value      TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE shared_version (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO shared_version (id, version) VALUES (1, 0);

CREATE TABLE signing_keys (
    id           BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    algorithm    TEXT    NOT NULL,
    sealed       BLOB    NOT NULL,
    created_at   INTEGER NOT NULL,
    verify_until INTEGER
) STRICT, WITHOUT ROWID;

-- One key signs.
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys ((verify_until IS NULL)) WHERE verify_until IS NULL;
