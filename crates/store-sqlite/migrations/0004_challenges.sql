-- Codes, their hourly budget, links and exchanged reset tokens. Rows without a user are decoys: an address that may
-- not have a challenge costs the same as one that may. That is also why `user_id` has no foreign key: its check
-- would run for real rows only. A trigger deletes the rows of a deleted user instead.

CREATE TABLE codes (
    email_key  TEXT    NOT NULL,
    purpose    TEXT    NOT NULL,
    user_id    BLOB,
    mac        BLOB    NOT NULL CHECK (length(mac) = 32),
    attempts   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (email_key, purpose)
) STRICT, WITHOUT ROWID;

CREATE INDEX codes_by_user ON codes (user_id);
CREATE INDEX codes_by_expiry ON codes (expires_at);

CREATE TABLE code_budgets (
    email_key TEXT    NOT NULL,
    purpose   TEXT    NOT NULL,
    attempts  INTEGER NOT NULL,
    since     INTEGER NOT NULL,
    ends_at   INTEGER NOT NULL,
    PRIMARY KEY (email_key, purpose)
) STRICT, WITHOUT ROWID;

CREATE INDEX code_budgets_by_end ON code_budgets (ends_at);

CREATE TABLE link_tokens (
    hash          BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    purpose       TEXT    NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('link', 'exchange')),
    email_key     TEXT    NOT NULL,
    user_id       BLOB,
    redirect_to   TEXT,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    used_at       INTEGER,
    superseded_at INTEGER
) STRICT;

CREATE INDEX link_tokens_by_address ON link_tokens (email_key, purpose);
CREATE INDEX link_tokens_by_user ON link_tokens (user_id);
CREATE INDEX link_tokens_by_expiry ON link_tokens (expires_at);

CREATE TRIGGER users_challenges_deleted AFTER DELETE ON users BEGIN
    DELETE FROM codes WHERE user_id = old.id;
    DELETE FROM link_tokens WHERE user_id = old.id;
END;
