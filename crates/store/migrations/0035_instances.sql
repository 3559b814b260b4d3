-- The running processes of the service. Each reports itself once a minute, and deletes its row when it stops.
CREATE TABLE instances (
    id         UUID   NOT NULL PRIMARY KEY,
    version    TEXT   COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);
