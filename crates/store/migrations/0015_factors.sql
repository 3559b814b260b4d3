-- Second factors, challenges and undo links.

-- The time at which two-step sign-in was turned on; null while it is off.
ALTER TABLE users ADD COLUMN two_step_at BIGINT;

-- Level 2: a reset token for which a second factor was shown.
ALTER TABLE link_tokens ADD COLUMN level BIGINT NOT NULL DEFAULT 1;

-- A factor without confirmed_at is pending: it belongs to the session or challenge that began it, until it expires.
CREATE TABLE totp_factors (
    id             UUID   NOT NULL PRIMARY KEY,
    user_id        UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name           TEXT   COLLATE "C" NOT NULL,
    secret         BYTEA  NOT NULL,
    created_at     BIGINT NOT NULL,
    confirmed_at   BIGINT,
    session_id     UUID,
    challenge_hash BYTEA  CHECK (octet_length(challenge_hash) = 32),
    attempts       BIGINT NOT NULL,
    expires_at     BIGINT,
    last_step      BIGINT,
    last_used_at   BIGINT
);
CREATE INDEX totp_factors_by_user ON totp_factors (user_id);
CREATE INDEX totp_factors_by_expiry ON totp_factors (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE recovery_codes (
    user_id    UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    mac        BYTEA  NOT NULL CHECK (octet_length(mac) = 32),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, mac)
);

-- The session is that of a reauthentication, the token that of a reset or undo. The identity is the one that was shown as
-- the first factor; it is linked by the answer where links_identity says so. A used challenge is deleted.
CREATE TABLE challenges (
    hash              BYTEA   NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
    user_id           UUID    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose           TEXT    COLLATE "C" NOT NULL,
    client_type       TEXT    COLLATE "C" NOT NULL,
    methods           TEXT    COLLATE "C" NOT NULL,
    session_id        UUID,
    token_hash        BYTEA   CHECK (octet_length(token_hash) = 32),
    identity_provider TEXT    COLLATE "C",
    identity_issuer   TEXT    COLLATE "C",
    identity_subject  TEXT    COLLATE "C",
    identity_email    TEXT    COLLATE "C",
    identity_vouched  BOOLEAN NOT NULL,
    links_identity    BOOLEAN NOT NULL,
    attempts          BIGINT  NOT NULL,
    created_at        BIGINT  NOT NULL,
    expires_at        BIGINT  NOT NULL
);
CREATE INDEX challenges_by_user ON challenges (user_id);
CREATE INDEX challenges_by_expiry ON challenges (expires_at);

-- The address is the one that the mail went to. A used token is deleted.
CREATE TABLE undo_tokens (
    hash         BYTEA   NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
    user_id      UUID    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    event        TEXT    COLLATE "C" NOT NULL,
    email        TEXT    COLLATE "C" NOT NULL,
    had_two_step BOOLEAN NOT NULL,
    happened_at  BIGINT  NOT NULL,
    expires_at   BIGINT  NOT NULL
);
CREATE INDEX undo_tokens_by_user ON undo_tokens (user_id);
CREATE INDEX undo_tokens_by_expiry ON undo_tokens (expires_at);
