-- Mails to be sent, written with what causes them. Decoys are never sent; see the challenges for `user_id`.
-- A claimed mail has a lease, and its next attempt is the end of that lease.

CREATE TABLE outbox (
    id              UUID   NOT NULL PRIMARY KEY,
    kind            TEXT   COLLATE "C" NOT NULL,
    state           TEXT   COLLATE "C" NOT NULL CHECK (state IN ('queued', 'sent', 'dead', 'decoy')),
    user_id         UUID,
    email           TEXT   COLLATE "C" NOT NULL,
    payload         BYTEA,
    attempts        BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    lease_id        UUID,
    ended_at        BIGINT,
    last_error      TEXT   COLLATE "C"
);

CREATE INDEX outbox_by_age ON outbox (state, created_at, id, next_attempt_at);
CREATE INDEX outbox_by_due ON outbox (state, next_attempt_at);
CREATE INDEX outbox_by_end ON outbox (state, ended_at);
CREATE INDEX outbox_by_user ON outbox (user_id);
