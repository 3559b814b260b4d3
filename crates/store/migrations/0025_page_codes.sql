-- Codes by which an app gets a session of its own from a page session.

CREATE TABLE page_codes (
    code_hash      BYTEA  NOT NULL PRIMARY KEY CHECK (octet_length(code_hash) = 32),
    code_challenge BYTEA  NOT NULL CHECK (octet_length(code_challenge) = 32),
    session_id     UUID   NOT NULL,
    redirect_to    TEXT   COLLATE "C" NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL
);
CREATE INDEX page_codes_by_expiry ON page_codes (expires_at);
