-- Passkeys, used ceremonies, and the passkey of a session.

-- 16 random bytes, made at the first registration.
ALTER TABLE users ADD COLUMN user_handle BYTEA;

-- The passkey that was shown at the sign-in. It stays when the passkey is removed.
ALTER TABLE sessions ADD COLUMN passkey_id UUID;

-- The WebAuthn challenge of the newest request options.
ALTER TABLE challenges ADD COLUMN passkey_options BYTEA;

CREATE TABLE passkeys (
    id              UUID    NOT NULL PRIMARY KEY,
    user_id         UUID    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id   BYTEA   NOT NULL CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    public_key      BYTEA   NOT NULL,
    rp_id           TEXT    COLLATE "C" NOT NULL,
    name            TEXT    COLLATE "C" NOT NULL,
    aaguid          BYTEA   NOT NULL CHECK (octet_length(aaguid) = 16),
    transports      TEXT    COLLATE "C" NOT NULL,
    counter         BIGINT  NOT NULL,
    backup_eligible BOOLEAN NOT NULL,
    backed_up       BOOLEAN NOT NULL,
    created_at      BIGINT  NOT NULL,
    last_used_at    BIGINT
);
CREATE UNIQUE INDEX passkeys_by_credential ON passkeys (credential_id);
-- Reads of a user take the relying party ids from the index alone.
CREATE INDEX passkeys_by_user ON passkeys (user_id, rp_id);

-- A WebAuthn ceremony succeeds once. Its use is stored until it expires.
CREATE TABLE used_ceremonies (
    hash       BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_ceremonies_by_expiry ON used_ceremonies (expires_at);
