-- Sessions and the state of their refresh tokens. `retired` lists replaced tokens in the encoding of the domain.

CREATE TABLE sessions (
    id                  UUID   NOT NULL PRIMARY KEY,
    user_id             UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    family_hash         BYTEA  NOT NULL UNIQUE CHECK (octet_length(family_hash) = 32),
    current_hash        BYTEA  NOT NULL CHECK (octet_length(current_hash) = 32),
    retired             BYTEA  NOT NULL,
    sealed_successor    BYTEA,
    sealed_until        BIGINT,
    method              TEXT   COLLATE "C" NOT NULL,
    address             TEXT   COLLATE "C" NOT NULL,
    user_agent          TEXT   COLLATE "C",
    created_at          BIGINT NOT NULL,
    last_seen_at        BIGINT NOT NULL,
    idle_expires_at     BIGINT NOT NULL,
    absolute_expires_at BIGINT NOT NULL,
    ended_at            BIGINT
);

CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);

-- When a session ended or will end.
CREATE INDEX sessions_by_end ON sessions (coalesce(ended_at, least(idle_expires_at, absolute_expires_at)));

CREATE INDEX sessions_by_seal ON sessions (sealed_until) WHERE sealed_until IS NOT NULL;
