-- Grants for addresses that have no account yet. The activation link makes the account, which then gets the grant.
CREATE TABLE operator_addresses (
    id                    UUID   NOT NULL PRIMARY KEY,
    email_key             TEXT   COLLATE "C" NOT NULL UNIQUE,
    email                 TEXT   COLLATE "C" NOT NULL,
    role                  TEXT   COLLATE "C" NOT NULL,
    -- The operator who gave the role; null for the command line.
    granted_by            UUID,
    granted_at            BIGINT NOT NULL,
    -- The SHA-256 of the token of the activation link.
    activation_hash       BYTEA  NOT NULL UNIQUE CHECK (octet_length(activation_hash) = 32),
    activation_expires_at BIGINT NOT NULL
);
