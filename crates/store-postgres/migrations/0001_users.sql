-- Accounts, their credentials and their linked identities.
-- Times are milliseconds since 1970 in UTC, JSON is text. Text compares by its bytes, whatever the database's locale.

CREATE TABLE users (
    id                UUID    NOT NULL PRIMARY KEY,
    email             TEXT    COLLATE "C" NOT NULL,
    email_key         TEXT    COLLATE "C" NOT NULL UNIQUE,
    email_verified    BOOLEAN NOT NULL,
    first_verified_at BIGINT,
    pending           BOOLEAN NOT NULL,
    contested         BOOLEAN NOT NULL,
    banned_at         BIGINT,
    metadata          TEXT    COLLATE "C" NOT NULL,
    locale            TEXT    COLLATE "C",
    pending_email     TEXT    COLLATE "C",
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL
);

CREATE INDEX users_by_age ON users (created_at, id);

CREATE TABLE credentials (
    user_id    UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind       TEXT   COLLATE "C" NOT NULL,
    data       TEXT   COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind)
);

CREATE TABLE identities (
    provider   TEXT   COLLATE "C" NOT NULL,
    subject    TEXT   COLLATE "C" NOT NULL,
    user_id    UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (provider, subject)
);

CREATE INDEX identities_by_user ON identities (user_id, provider);
