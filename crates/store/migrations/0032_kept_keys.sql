-- A replacement of the server secret. Keys of stored MACs outlive it: they are stored here, sealed under the new secret.
CREATE TABLE kept_keys (
    label  TEXT  COLLATE "C" NOT NULL PRIMARY KEY,
    sealed BYTEA NOT NULL
);

-- The replacement that has begun and is not finished, if there is one. No service starts meanwhile.
CREATE TABLE secret_rotations (
    id          BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    fingerprint TEXT   COLLATE "C" NOT NULL,
    started_at  BIGINT NOT NULL
);
