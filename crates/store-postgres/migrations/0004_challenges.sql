-- Codes, their hourly budget, links and exchanged reset tokens. Rows without a user are decoys: an address that may
-- not have a challenge costs the same as one that may. That is also why `user_id` has no foreign key: its check
-- would run for real rows only. Whoever deletes a user deletes these rows with it.

CREATE TABLE codes (
    email_key  TEXT   COLLATE "C" NOT NULL,
    purpose    TEXT   COLLATE "C" NOT NULL,
    user_id    UUID,
    mac        BYTEA  NOT NULL CHECK (octet_length(mac) = 32),
    attempts   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (email_key, purpose)
);

CREATE INDEX codes_by_user ON codes (user_id);
CREATE INDEX codes_by_expiry ON codes (expires_at);

CREATE TABLE code_budgets (
    email_key TEXT   COLLATE "C" NOT NULL,
    purpose   TEXT   COLLATE "C" NOT NULL,
    attempts  BIGINT NOT NULL,
    since     BIGINT NOT NULL,
    ends_at   BIGINT NOT NULL,
    PRIMARY KEY (email_key, purpose)
);

CREATE INDEX code_budgets_by_end ON code_budgets (ends_at);

CREATE TABLE link_tokens (
    hash          BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
    purpose       TEXT   COLLATE "C" NOT NULL,
    kind          TEXT   COLLATE "C" NOT NULL CHECK (kind IN ('link', 'exchange')),
    email_key     TEXT   COLLATE "C" NOT NULL,
    user_id       UUID,
    redirect_to   TEXT   COLLATE "C",
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    used_at       BIGINT,
    superseded_at BIGINT
);

CREATE INDEX link_tokens_by_address ON link_tokens (email_key, purpose);
CREATE INDEX link_tokens_by_user ON link_tokens (user_id);
CREATE INDEX link_tokens_by_expiry ON link_tokens (expires_at);
