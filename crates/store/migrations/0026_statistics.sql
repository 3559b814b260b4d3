-- Statistics of the service, which upkeep counts, so that reading them costs the same whatever the number of accounts.

CREATE TABLE statistics (
    id         BIGINT NOT NULL PRIMARY KEY,
    counted_at BIGINT NOT NULL,
    counts     TEXT   COLLATE "C" NOT NULL
);

-- Numbers of events of one day in UTC, which begins at `starts_at`.
CREATE TABLE statistics_days (
    starts_at BIGINT NOT NULL PRIMARY KEY,
    sign_ups  BIGINT NOT NULL,
    sign_ins  BIGINT NOT NULL,
    failures  BIGINT NOT NULL,
    resets    BIGINT NOT NULL
);
