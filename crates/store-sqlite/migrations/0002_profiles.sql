-- Profiles. The folded columns hold what search compares: folded, words joined by one space, empty where absent.
-- The wide columns stand last, so that search does not read past them.

CREATE TABLE profiles (
    search_id       INTEGER NOT NULL PRIMARY KEY,
    id              BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    user_id         BLOB    NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    version         INTEGER NOT NULL CHECK (version >= 1),
    searchable      INTEGER NOT NULL CHECK (searchable IN (0, 1)),
    folded_name     TEXT    NOT NULL,
    folded_username TEXT    NOT NULL,
    folded_bio      TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    username        TEXT    UNIQUE,
    avatar_url      TEXT,
    bio             TEXT,
    metadata        TEXT    NOT NULL,
    custom          TEXT    NOT NULL
) STRICT;
