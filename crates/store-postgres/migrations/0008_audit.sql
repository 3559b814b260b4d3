-- The audit trail. It outlives the users it is about, so it has no foreign key to them.

CREATE TABLE audit_events (
    id          UUID   NOT NULL PRIMARY KEY,
    happened_at BIGINT NOT NULL,
    kind        TEXT   COLLATE "C" NOT NULL,
    actor       TEXT   COLLATE "C" NOT NULL,
    user_id     UUID,
    session_id  UUID,
    address     TEXT   COLLATE "C",
    user_agent  TEXT   COLLATE "C",
    details     TEXT   COLLATE "C" NOT NULL
);
