-- Sign-in through identity providers. A flow is between the app and the provider, a code between the provider and the
-- app; both may be to link, and then name the session that began them. They have no foreign key to it: whether it
-- lives is asked when the link is made. Secrets are sealed, states, codes and tokens are hashes.

-- The address that the provider gave when the identity was linked, for its owner to tell identities apart.
ALTER TABLE identities ADD COLUMN email TEXT COLLATE "C";

CREATE TABLE oauth_flows (
    state_hash      BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(state_hash) = 32),
    provider        TEXT   COLLATE "C" NOT NULL,
    code_challenge  BYTEA  NOT NULL CHECK (octet_length(code_challenge) = 32),
    redirect_to     TEXT   COLLATE "C" NOT NULL,
    sealed          BYTEA,
    link_user_id    UUID,
    link_session_id UUID,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    used_at         BIGINT
);

CREATE INDEX oauth_flows_by_expiry ON oauth_flows (expires_at);

CREATE TABLE oauth_codes (
    code_hash       BYTEA   NOT NULL PRIMARY KEY CHECK (octet_length(code_hash) = 32),
    code_challenge  BYTEA   NOT NULL CHECK (octet_length(code_challenge) = 32),
    provider        TEXT    COLLATE "C" NOT NULL,
    subject         TEXT    COLLATE "C" NOT NULL,
    email           TEXT    COLLATE "C",
    email_verified  BOOLEAN NOT NULL,
    name            TEXT    COLLATE "C" NOT NULL,
    avatar_url      TEXT    COLLATE "C",
    link_user_id    UUID,
    link_session_id UUID,
    created_at      BIGINT  NOT NULL,
    expires_at      BIGINT  NOT NULL
);

CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);

CREATE TABLE oauth_used_tokens (
    hash       BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
    expires_at BIGINT NOT NULL
);

CREATE INDEX oauth_used_tokens_by_expiry ON oauth_used_tokens (expires_at);

CREATE TABLE oauth_providers (
    key        TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT   COLLATE "C" NOT NULL CHECK (kind IN ('built_in', 'custom')),
    config     TEXT   COLLATE "C" NOT NULL,
    sealed     BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
