-- Sessions and the state of their refresh tokens. `retired` lists replaced tokens in the encoding of the domain.

CREATE TABLE sessions (
    id                  BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    user_id             BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    family_hash         BLOB    NOT NULL UNIQUE CHECK (length(family_hash) = 32),
    current_hash        BLOB    NOT NULL CHECK (length(current_hash) = 32),
    retired             BLOB    NOT NULL,
    sealed_successor    BLOB,
    sealed_until        INTEGER,
    method              TEXT    NOT NULL,
    address             TEXT    NOT NULL,
    user_agent          TEXT,
    created_at          INTEGER NOT NULL,
    last_seen_at        INTEGER NOT NULL,
    idle_expires_at     INTEGER NOT NULL,
    absolute_expires_at INTEGER NOT NULL,
    ended_at            INTEGER
) STRICT;

CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);

-- When a session ended or will end.
CREATE INDEX sessions_by_end ON sessions (coalesce(ended_at, min(idle_expires_at, absolute_expires_at)));

CREATE INDEX sessions_by_seal ON sessions (sealed_until) WHERE sealed_until IS NOT NULL;
