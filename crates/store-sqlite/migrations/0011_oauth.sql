-- Sign-in through identity providers. A flow is between the app and the provider, a code between the provider and the
-- app; both may be to link, and then name the session that began them. They have no foreign key to it: whether it
-- lives is asked when the link is made. Secrets are sealed, states, codes and tokens are hashes.

-- The address that the provider gave when the identity was linked, for its owner to tell identities apart.
ALTER TABLE identities ADD COLUMN email TEXT;

CREATE TABLE oauth_flows (
    state_hash      BLOB    NOT NULL PRIMARY KEY CHECK (length(state_hash) = 32),
    provider        TEXT    NOT NULL,
    code_challenge  BLOB    NOT NULL CHECK (length(code_challenge) = 32),
    redirect_to     TEXT    NOT NULL,
    sealed          BLOB,
    link_user_id    BLOB,
    link_session_id BLOB,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    used_at         INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_flows_by_expiry ON oauth_flows (expires_at);

CREATE TABLE oauth_codes (
    code_hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(code_hash) = 32),
    code_challenge  BLOB    NOT NULL CHECK (length(code_challenge) = 32),
    provider        TEXT    NOT NULL,
    subject         TEXT    NOT NULL,
    email           TEXT,
    email_verified  INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
    name            TEXT    NOT NULL,
    avatar_url      TEXT,
    link_user_id    BLOB,
    link_session_id BLOB,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);

CREATE TABLE oauth_used_tokens (
    hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_used_tokens_by_expiry ON oauth_used_tokens (expires_at);

CREATE TABLE oauth_providers (
    key        TEXT    NOT NULL PRIMARY KEY,
    kind       TEXT    NOT NULL CHECK (kind IN ('built_in', 'custom')),
    config     TEXT    NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
