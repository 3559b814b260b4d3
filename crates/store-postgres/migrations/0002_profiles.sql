-- Profiles. The folded columns hold what search compares: folded, words joined by one space, empty where absent.
-- The wide columns stand last, so that search does not read past them.

CREATE TABLE profiles (
    id              UUID    NOT NULL PRIMARY KEY,
    user_id         UUID    NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL,
    version         BIGINT  NOT NULL CHECK (version >= 1),
    searchable      BOOLEAN NOT NULL,
    folded_name     TEXT    COLLATE "C" NOT NULL,
    folded_username TEXT    COLLATE "C" NOT NULL,
    folded_bio      TEXT    COLLATE "C" NOT NULL,
    name            TEXT    COLLATE "C" NOT NULL,
    username        TEXT    COLLATE "C" UNIQUE,
    avatar_url      TEXT    COLLATE "C",
    bio             TEXT    COLLATE "C",
    metadata        TEXT    COLLATE "C" NOT NULL,
    custom          TEXT    COLLATE "C" NOT NULL
);
