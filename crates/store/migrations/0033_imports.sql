-- Imports of accounts from other services: their places and outcomes, the accounts that they created, so that these can be
-- deleted again for 30 days, and the lines of their reports.

CREATE TABLE imports (
    id         UUID    NOT NULL PRIMARY KEY,
    state      TEXT    COLLATE "C" NOT NULL,
    format     TEXT    COLLATE "C" NOT NULL,
    source     TEXT    COLLATE "C" NOT NULL,
    -- The SHA-256 of the file, and of everything that decides what becomes of a record.
    digest     BYTEA   NOT NULL CHECK (octet_length(digest) = 32),
    dry_run    BOOLEAN NOT NULL,
    policy     TEXT    COLLATE "C" NOT NULL,
    -- The process that writes the import. A later one takes over by replacing it.
    claim      UUID    NOT NULL,
    read       BIGINT  NOT NULL,
    created    BIGINT  NOT NULL,
    updated    BIGINT  NOT NULL,
    skipped    BIGINT  NOT NULL,
    refused    BIGINT  NOT NULL,
    problems   TEXT    COLLATE "C" NOT NULL,
    started_at BIGINT  NOT NULL,
    active_at  BIGINT  NOT NULL,
    ended_at   BIGINT
);
CREATE INDEX imports_by_start ON imports (started_at, id);

CREATE TABLE imported_accounts (
    import_id   UUID   NOT NULL,
    place       BIGINT NOT NULL,
    user_id     UUID   NOT NULL,
    imported_at BIGINT NOT NULL,
    PRIMARY KEY (import_id, place)
);

CREATE TABLE import_problems (
    import_id UUID   NOT NULL,
    place     BIGINT NOT NULL,
    number    BIGINT NOT NULL,
    line      TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (import_id, place, number)
);
