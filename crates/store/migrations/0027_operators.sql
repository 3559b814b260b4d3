-- Grants by which accounts may sign in to the console. A grant without time of activation sleeps: it opens nothing until
-- its activation link is used.

CREATE TABLE operators (
    user_id               UUID   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    role                  TEXT   COLLATE "C" NOT NULL,
    -- The operator who gave the role; null for the command line. There is no foreign key: the id outlives the account.
    granted_by            UUID,
    granted_at            BIGINT NOT NULL,
    -- The SHA-256 of the token of the unused activation link.
    activation_hash       BYTEA CHECK (octet_length(activation_hash) = 32),
    activation_expires_at BIGINT,
    activated_at          BIGINT
);
