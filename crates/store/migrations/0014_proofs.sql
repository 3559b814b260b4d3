-- What the rules about proofs, issuers, code lanes and two-step sign-in ask of the tables.

-- Values of the claim `amr` with a space between them, the level that was reached, the time of the last proof, and the
-- identity that opened the session, if one did.
ALTER TABLE sessions ADD COLUMN amr TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN level BIGINT NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN auth_time BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN identity_provider TEXT COLLATE "C";
ALTER TABLE sessions ADD COLUMN identity_issuer TEXT COLLATE "C";
ALTER TABLE sessions ADD COLUMN identity_subject TEXT COLLATE "C";
UPDATE sessions SET amr = method, auth_time = created_at;

-- Whether the password is known to come from the mailbox's owner. Passwords of addresses that were verified before this
-- rule count as proven.
ALTER TABLE credentials ADD COLUMN proven BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE credentials SET proven = TRUE
WHERE EXISTS (SELECT 1 FROM users AS u WHERE u.id = user_id AND u.first_verified_at IS NOT NULL);

-- The time of the last sign-up for the address of a pending account.
ALTER TABLE users ADD COLUMN signed_up_at BIGINT;
UPDATE users SET signed_up_at = updated_at WHERE pending;
CREATE INDEX users_by_sign_up ON users (signed_up_at) WHERE signed_up_at IS NOT NULL;

-- The last sign-up that an account refused or superseded: the hash of its password, and of its browser's cookie.
CREATE TABLE sign_up_attempts (
    user_id      UUID   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash         TEXT   COLLATE "C",
    browser_hash BYTEA  CHECK (octet_length(browser_hash) = 32),
    created_at   BIGINT NOT NULL
);
CREATE INDEX sign_up_attempts_by_age ON sign_up_attempts (created_at);

-- An identity is a subject at an issuer. The issuer is empty where the provider has none, and '?' where it was linked
-- before issuers were stored. The vouched key is that of the address, if the provider said that it proved it; nobody
-- knows of those that were linked before, until they sign in.
CREATE TABLE identities_of_issuers (
    provider   TEXT   COLLATE "C" NOT NULL,
    issuer     TEXT   COLLATE "C" NOT NULL,
    subject    TEXT   COLLATE "C" NOT NULL,
    user_id    UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    email      TEXT   COLLATE "C",
    vouched_email_key TEXT COLLATE "C",
    PRIMARY KEY (provider, issuer, subject)
);
INSERT INTO identities_of_issuers (provider, issuer, subject, user_id, created_at, email)
SELECT provider, '?', subject, user_id, created_at, email FROM identities;
DROP TABLE identities;
ALTER TABLE identities_of_issuers RENAME TO identities;
CREATE INDEX identities_by_user ON identities (user_id, provider);

ALTER TABLE oauth_codes ADD COLUMN issuer TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Lane 0 is for addresses from which the account signed in lately, lane 1 for all others. Wrong attempts on a code are
-- counted apart for the lane that it was mailed in and for the other.
CREATE TABLE codes_before AS SELECT * FROM codes;
DROP TABLE codes;
CREATE TABLE codes (
    email_key      TEXT    COLLATE "C" NOT NULL,
    purpose        TEXT    COLLATE "C" NOT NULL,
    lane           BIGINT  NOT NULL,
    user_id        UUID,
    mac            BYTEA   NOT NULL CHECK (octet_length(mac) = 32),
    long           BOOLEAN NOT NULL,
    attempts       BIGINT  NOT NULL,
    other_attempts BIGINT  NOT NULL,
    created_at     BIGINT  NOT NULL,
    expires_at     BIGINT  NOT NULL,
    PRIMARY KEY (email_key, purpose, lane)
);
INSERT INTO codes (email_key, purpose, lane, user_id, mac, long, attempts, other_attempts, created_at, expires_at)
SELECT email_key, purpose, 1, user_id, mac, FALSE, attempts, attempts, created_at, expires_at FROM codes_before;
DROP TABLE codes_before;
CREATE INDEX codes_by_user ON codes (user_id);
CREATE INDEX codes_by_expiry ON codes (expires_at);

CREATE TABLE code_budgets_in_lanes (
    email_key    TEXT   COLLATE "C" NOT NULL,
    purpose      TEXT   COLLATE "C" NOT NULL,
    lane         BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    since        BIGINT NOT NULL,
    day_attempts BIGINT NOT NULL,
    day_since    BIGINT NOT NULL,
    ends_at      BIGINT NOT NULL,
    PRIMARY KEY (email_key, purpose, lane)
);
INSERT INTO code_budgets_in_lanes (email_key, purpose, lane, attempts, since, day_attempts, day_since, ends_at)
SELECT email_key, purpose, 1, attempts, since, attempts, since, ends_at FROM code_budgets;
DROP TABLE code_budgets;
ALTER TABLE code_budgets_in_lanes RENAME TO code_budgets;
CREATE INDEX code_budgets_by_end ON code_budgets (ends_at);

CREATE INDEX audit_events_by_time ON audit_events (happened_at);
CREATE INDEX audit_events_of_nobody ON audit_events (happened_at) WHERE user_id IS NULL;
