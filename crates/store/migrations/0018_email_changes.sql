-- Changes of an account's email address by its owner, and what undoes them.

-- One change per account. Its codes are in the table codes, under the account's current address.
CREATE TABLE email_changes (
    user_id        UUID    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    id             UUID    NOT NULL,
    email          TEXT    COLLATE "C" NOT NULL,
    email_key      TEXT    COLLATE "C" NOT NULL,
    needs_current  BOOLEAN NOT NULL,
    new_proven     BOOLEAN NOT NULL,
    current_proven BOOLEAN NOT NULL,
    created_at     BIGINT  NOT NULL,
    expires_at     BIGINT  NOT NULL
);
CREATE INDEX email_changes_by_expiry ON email_changes (expires_at);

-- The address as its owner typed it, which an undo brings back; null in rows of earlier releases. A token of a changed
-- address reserves the address that it was mailed to; the hash is that of the last sign-up for it.
ALTER TABLE undo_tokens ADD COLUMN email_as_typed TEXT COLLATE "C";
ALTER TABLE undo_tokens ADD COLUMN sign_up_hash TEXT COLLATE "C";
CREATE INDEX undo_tokens_by_email ON undo_tokens (email) WHERE event = 'email_changed';
