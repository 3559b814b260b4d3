-- What all instances share: settings, signing keys, and a version that grows with every change of either.

CREATE TABLE settings (
    key        TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    value      TEXT   COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE shared_version (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);

INSERT INTO shared_version (id, version) VALUES (1, 0);

CREATE TABLE signing_keys (
    id           UUID   NOT NULL PRIMARY KEY,
    algorithm    TEXT   COLLATE "C" NOT NULL,
    sealed       BYTEA  NOT NULL,
    created_at   BIGINT NOT NULL,
    verify_until BIGINT
);

-- One key signs.
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys ((verify_until IS NULL)) WHERE verify_until IS NULL;
