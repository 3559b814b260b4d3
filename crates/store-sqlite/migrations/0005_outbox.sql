-- Mails to be sent, written with what causes them. Decoys are never sent; see the challenges for `user_id`.
-- A claimed mail has a lease, and its next attempt is the end of that lease.

CREATE TABLE outbox (
    id              BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    kind            TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('queued', 'sent', 'dead', 'decoy')),
    user_id         BLOB,
    email           TEXT    NOT NULL,
    payload         BLOB,
    attempts        INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL,
    lease_id        BLOB,
    ended_at        INTEGER,
    last_error      TEXT
) STRICT;

CREATE INDEX outbox_by_age ON outbox (state, created_at, id, next_attempt_at);
CREATE INDEX outbox_by_due ON outbox (state, next_attempt_at);
CREATE INDEX outbox_by_end ON outbox (state, ended_at);
CREATE INDEX outbox_by_user ON outbox (user_id);

CREATE TRIGGER users_mails_deleted AFTER DELETE ON users BEGIN
    DELETE FROM outbox WHERE user_id = old.id;
END;
