-- Generated from the migrations by `cargo xtask generated --write`: what they make of an empty file.
CREATE TABLE users (
    id                BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    email             TEXT    NOT NULL,
    email_key         TEXT    NOT NULL UNIQUE,
    email_verified    INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
    first_verified_at INTEGER,
    pending           INTEGER NOT NULL CHECK (pending IN (0, 1)),
    contested         INTEGER NOT NULL CHECK (contested IN (0, 1)),
    banned_at         INTEGER,
    metadata          TEXT    NOT NULL,
    locale            TEXT,
    pending_email     TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
, signed_up_at INTEGER, two_step_at INTEGER, user_handle BLOB, deletes_at INTEGER, device_mail_at INTEGER, last_sign_in_at INTEGER, has_profile INTEGER NOT NULL DEFAULT FALSE) STRICT;
CREATE TABLE credentials (
    user_id    BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, proven INTEGER NOT NULL DEFAULT FALSE,
    PRIMARY KEY (user_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE profiles (
    search_id       INTEGER NOT NULL PRIMARY KEY,
    id              BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    user_id         BLOB    NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    version         INTEGER NOT NULL CHECK (version >= 1),
    searchable      INTEGER NOT NULL CHECK (searchable IN (0, 1)),
    folded_name     TEXT    NOT NULL,
    folded_username TEXT    NOT NULL,
    folded_bio      TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    username        TEXT    UNIQUE,
    avatar_url      TEXT,
    bio             TEXT,
    metadata        TEXT    NOT NULL,
    custom          TEXT    NOT NULL
) STRICT;
CREATE TABLE sessions (
    id                  BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    user_id             BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    family_hash         BLOB    NOT NULL UNIQUE CHECK (length(family_hash) = 32),
    current_hash        BLOB    NOT NULL CHECK (length(current_hash) = 32),
    retired             BLOB    NOT NULL,
    sealed_successor    BLOB,
    sealed_until        INTEGER,
    method              TEXT    NOT NULL,
    address             TEXT    NOT NULL,
    user_agent          TEXT,
    created_at          INTEGER NOT NULL,
    last_seen_at        INTEGER NOT NULL,
    idle_expires_at     INTEGER NOT NULL,
    absolute_expires_at INTEGER NOT NULL,
    ended_at            INTEGER
, amr TEXT NOT NULL DEFAULT '', level INTEGER NOT NULL DEFAULT 1, auth_time INTEGER NOT NULL DEFAULT 0, identity_provider TEXT, identity_issuer TEXT, identity_subject TEXT, name TEXT, passkey_id BLOB, kind TEXT NOT NULL DEFAULT 'app', browser_hash BLOB CHECK (length(browser_hash) = 32), opened_from BLOB) STRICT;
CREATE TABLE link_tokens (
    hash          BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    purpose       TEXT    NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('link', 'exchange')),
    email_key     TEXT    NOT NULL,
    user_id       BLOB,
    redirect_to   TEXT,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    used_at       INTEGER,
    superseded_at INTEGER
, level INTEGER NOT NULL DEFAULT 1, lane INTEGER, code_challenge BLOB, email TEXT) STRICT;
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
CREATE TABLE limit_buckets (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE limit_failures (
    key              BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    failures         INTEGER NOT NULL,
    since            INTEGER NOT NULL,
    blocked_until    INTEGER NOT NULL,
    remembered_until INTEGER NOT NULL
, account_key BLOB CHECK (length(account_key) = 16)) STRICT, WITHOUT ROWID;
CREATE TABLE known_clients (
    key         BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    known_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
    key        TEXT    NOT NULL PRIMARY KEY,
    value      TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE shared_version (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
CREATE TABLE signing_keys (
    id           BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    algorithm    TEXT    NOT NULL,
    sealed       BLOB    NOT NULL,
    created_at   INTEGER NOT NULL,
    verify_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_events (
    id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    happened_at INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    user_id     BLOB,
    session_id  BLOB,
    address     TEXT,
    user_agent  TEXT,
    details     TEXT    NOT NULL
, operator_id BLOB) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE profile_search USING fts5 (
    words, content = '', columnsize = 0, detail = 'none', tokenize = 'trigram case_sensitive 1'
);
CREATE TABLE health (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    beat INTEGER NOT NULL
) STRICT;
CREATE TABLE oauth_flows (
    state_hash      BLOB    NOT NULL PRIMARY KEY CHECK (length(state_hash) = 32),
    provider        TEXT    NOT NULL,
    code_challenge  BLOB    NOT NULL CHECK (length(code_challenge) = 32),
    redirect_to     TEXT    NOT NULL,
    sealed          BLOB,
    link_user_id    BLOB,
    link_session_id BLOB,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    used_at         INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE oauth_codes (
    code_hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(code_hash) = 32),
    code_challenge  BLOB    NOT NULL CHECK (length(code_challenge) = 32),
    provider        TEXT    NOT NULL,
    subject         TEXT    NOT NULL,
    email           TEXT,
    email_verified  INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
    name            TEXT    NOT NULL,
    avatar_url      TEXT,
    link_user_id    BLOB,
    link_session_id BLOB,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL
, issuer TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE oauth_used_tokens (
    hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE oauth_providers (
    key        TEXT    NOT NULL PRIMARY KEY,
    kind       TEXT    NOT NULL CHECK (kind IN ('built_in', 'custom')),
    config     TEXT    NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE search_feed (
    place      INTEGER NOT NULL PRIMARY KEY,
    profile_id BLOB    NOT NULL CHECK (length(profile_id) = 16),
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE search_feed_state (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    purged       INTEGER NOT NULL,
    marked_place INTEGER NOT NULL,
    marked_at    INTEGER NOT NULL
) STRICT;
CREATE TABLE profile_search_pending (
    search_id INTEGER NOT NULL PRIMARY KEY,
    indexed   TEXT -- null: the index has nothing of it
) STRICT;
CREATE TABLE sign_up_attempts (
    user_id      BLOB   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash         TEXT  ,
    browser_hash BLOB  CHECK (length(browser_hash) = 32),
    created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE "identities" (
    provider   TEXT   NOT NULL,
    issuer     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    user_id    BLOB   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    email      TEXT  ,
    vouched_email_key TEXT,
    PRIMARY KEY (provider, issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE codes (
    email_key      TEXT    NOT NULL,
    purpose        TEXT    NOT NULL,
    lane           INTEGER  NOT NULL,
    user_id        BLOB,
    mac            BLOB   NOT NULL CHECK (length(mac) = 32),
    long           INTEGER NOT NULL,
    attempts       INTEGER  NOT NULL,
    other_attempts INTEGER  NOT NULL,
    created_at     INTEGER  NOT NULL,
    expires_at     INTEGER  NOT NULL,
    PRIMARY KEY (email_key, purpose, lane)
) STRICT, WITHOUT ROWID;
CREATE TABLE "code_budgets" (
    email_key    TEXT   NOT NULL,
    purpose      TEXT   NOT NULL,
    lane         INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    since        INTEGER NOT NULL,
    day_attempts INTEGER NOT NULL,
    day_since    INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL,
    PRIMARY KEY (email_key, purpose, lane)
) STRICT, WITHOUT ROWID;
CREATE TABLE totp_factors (
    id             BLOB   NOT NULL PRIMARY KEY,
    user_id        BLOB   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name           TEXT   NOT NULL,
    secret         BLOB  NOT NULL,
    created_at     INTEGER NOT NULL,
    confirmed_at   INTEGER,
    session_id     BLOB,
    challenge_hash BLOB  CHECK (length(challenge_hash) = 32),
    attempts       INTEGER NOT NULL,
    expires_at     INTEGER,
    last_step      INTEGER,
    last_used_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE recovery_codes (
    user_id    BLOB   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    mac        BLOB  NOT NULL CHECK (length(mac) = 32),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, mac)
) STRICT, WITHOUT ROWID;
CREATE TABLE challenges (
    hash              BLOB   NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    user_id           BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose           TEXT    NOT NULL,
    client_type       TEXT    NOT NULL,
    methods           TEXT    NOT NULL,
    session_id        BLOB,
    token_hash        BLOB   CHECK (length(token_hash) = 32),
    identity_provider TEXT   ,
    identity_issuer   TEXT   ,
    identity_subject  TEXT   ,
    identity_email    TEXT   ,
    identity_vouched  INTEGER NOT NULL,
    links_identity    INTEGER NOT NULL,
    attempts          INTEGER  NOT NULL,
    created_at        INTEGER  NOT NULL,
    expires_at        INTEGER  NOT NULL
, passkey_options BLOB, passkey_id BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE undo_tokens (
    hash         BLOB   NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    user_id      BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    event        TEXT    NOT NULL,
    email        TEXT    NOT NULL,
    had_two_step INTEGER NOT NULL,
    happened_at  INTEGER  NOT NULL,
    expires_at   INTEGER  NOT NULL
, email_as_typed TEXT, sign_up_hash TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE passkeys (
    id              BLOB    NOT NULL PRIMARY KEY,
    user_id         BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id   BLOB   NOT NULL CHECK (length(credential_id) BETWEEN 1 AND 1023),
    public_key      BLOB   NOT NULL,
    rp_id           TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    aaguid          BLOB   NOT NULL CHECK (length(aaguid) = 16),
    transports      TEXT    NOT NULL,
    counter         INTEGER  NOT NULL,
    backup_eligible INTEGER NOT NULL,
    backed_up       INTEGER NOT NULL,
    created_at      INTEGER  NOT NULL,
    last_used_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE used_ceremonies (
    hash       BLOB  NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE email_changes (
    user_id        BLOB    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    id             BLOB    NOT NULL,
    email          TEXT    NOT NULL,
    email_key      TEXT    NOT NULL,
    needs_current  INTEGER NOT NULL,
    new_proven     INTEGER NOT NULL,
    current_proven INTEGER NOT NULL,
    created_at     INTEGER  NOT NULL,
    expires_at     INTEGER  NOT NULL
, session_id BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE seen_devices (
    user_id BLOB   NOT NULL,
    device  TEXT   NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, device)
) STRICT, WITHOUT ROWID;
CREATE TABLE page_codes (
    code_hash      BLOB  NOT NULL PRIMARY KEY CHECK (length(code_hash) = 32),
    code_challenge BLOB  NOT NULL CHECK (length(code_challenge) = 32),
    session_id     BLOB   NOT NULL,
    redirect_to    TEXT   NOT NULL,
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE statistics (
    id         INTEGER NOT NULL PRIMARY KEY,
    counted_at INTEGER NOT NULL,
    counts     TEXT   NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE statistics_days (
    starts_at INTEGER NOT NULL PRIMARY KEY,
    sign_ups  INTEGER NOT NULL,
    sign_ins  INTEGER NOT NULL,
    failures  INTEGER NOT NULL,
    resets    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE operators (
    user_id               BLOB   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    role                  TEXT   NOT NULL,
    -- The operator who gave the role; null for the command line. There is no foreign key: the id outlives the account.
    granted_by            BLOB,
    granted_at            INTEGER NOT NULL,
    -- The SHA-256 of the token of the unused activation link.
    activation_hash       BLOB CHECK (length(activation_hash) = 32),
    activation_expires_at INTEGER,
    activated_at          INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE user_counts (
    provider TEXT   NOT NULL,
    state    TEXT   NOT NULL,
    day      INTEGER NOT NULL,
    shard    INTEGER NOT NULL,
    total    INTEGER NOT NULL,
    PRIMARY KEY (provider, state, day, shard)
) STRICT, WITHOUT ROWID;
CREATE TABLE kept_keys (
    label  TEXT  NOT NULL PRIMARY KEY,
    sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE secret_rotations (
    id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    fingerprint TEXT   NOT NULL,
    started_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE imports (
    id         BLOB    NOT NULL PRIMARY KEY,
    state      TEXT    NOT NULL,
    format     TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    -- The SHA-256 of the file, and of everything that decides what becomes of a record.
    digest     BLOB   NOT NULL CHECK (length(digest) = 32),
    dry_run    INTEGER NOT NULL,
    policy     TEXT    NOT NULL,
    -- The process that writes the import. A later one takes over by replacing it.
    claim      BLOB    NOT NULL,
    read       INTEGER  NOT NULL,
    created    INTEGER  NOT NULL,
    updated    INTEGER  NOT NULL,
    skipped    INTEGER  NOT NULL,
    refused    INTEGER  NOT NULL,
    problems   TEXT    NOT NULL,
    started_at INTEGER  NOT NULL,
    active_at  INTEGER  NOT NULL,
    ended_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE imported_accounts (
    import_id   BLOB   NOT NULL,
    place       INTEGER NOT NULL,
    user_id     BLOB   NOT NULL,
    imported_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE import_problems (
    import_id BLOB   NOT NULL,
    place     INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    line      TEXT   NOT NULL,
    PRIMARY KEY (import_id, place, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE hash_keys (
    id         BLOB   NOT NULL PRIMARY KEY,
    sealed     BLOB  NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE instances (
    id         BLOB   NOT NULL PRIMARY KEY,
    version    TEXT   NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE operator_addresses (
    id                    BLOB   NOT NULL PRIMARY KEY,
    email_key             TEXT   NOT NULL UNIQUE,
    email                 TEXT   NOT NULL,
    role                  TEXT   NOT NULL,
    -- The operator who gave the role; null for the command line.
    granted_by            BLOB,
    granted_at            INTEGER NOT NULL,
    -- The SHA-256 of the token of the activation link.
    activation_hash       BLOB  NOT NULL UNIQUE CHECK (length(activation_hash) = 32),
    activation_expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX users_by_age ON users (created_at, id);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_by_end ON sessions (coalesce(ended_at, min(idle_expires_at, absolute_expires_at)));
CREATE INDEX sessions_by_seal ON sessions (sealed_until) WHERE sealed_until IS NOT NULL;
CREATE INDEX link_tokens_by_address ON link_tokens (email_key, purpose);
CREATE INDEX link_tokens_by_user ON link_tokens (user_id);
CREATE INDEX link_tokens_by_expiry ON link_tokens (expires_at);
CREATE INDEX outbox_by_age ON outbox (state, created_at, id, next_attempt_at);
CREATE INDEX outbox_by_due ON outbox (state, next_attempt_at);
CREATE INDEX outbox_by_end ON outbox (state, ended_at);
CREATE INDEX outbox_by_user ON outbox (user_id);
CREATE INDEX limit_buckets_by_fill ON limit_buckets (full_at);
CREATE INDEX limit_failures_by_end ON limit_failures (remembered_until);
CREATE INDEX known_clients_by_end ON known_clients (known_until);
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys ((verify_until IS NULL)) WHERE verify_until IS NULL;
CREATE INDEX oauth_flows_by_expiry ON oauth_flows (expires_at);
CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);
CREATE INDEX oauth_used_tokens_by_expiry ON oauth_used_tokens (expires_at);
CREATE INDEX users_by_sign_up ON users (signed_up_at) WHERE signed_up_at IS NOT NULL;
CREATE INDEX sign_up_attempts_by_age ON sign_up_attempts (created_at);
CREATE INDEX identities_by_user ON identities (user_id, provider);
CREATE INDEX codes_by_user ON codes (user_id);
CREATE INDEX codes_by_expiry ON codes (expires_at);
CREATE INDEX code_budgets_by_end ON code_budgets (ends_at);
CREATE INDEX audit_events_by_time ON audit_events (happened_at);
CREATE INDEX totp_factors_by_user ON totp_factors (user_id);
CREATE INDEX totp_factors_by_expiry ON totp_factors (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX challenges_by_user ON challenges (user_id);
CREATE INDEX challenges_by_expiry ON challenges (expires_at);
CREATE INDEX undo_tokens_by_user ON undo_tokens (user_id);
CREATE INDEX undo_tokens_by_expiry ON undo_tokens (expires_at);
CREATE UNIQUE INDEX passkeys_by_credential ON passkeys (credential_id);
CREATE INDEX passkeys_by_user ON passkeys (user_id, rp_id);
CREATE INDEX used_ceremonies_by_expiry ON used_ceremonies (expires_at);
CREATE INDEX email_changes_by_expiry ON email_changes (expires_at);
CREATE INDEX users_by_deletion ON users (deletes_at) WHERE deletes_at IS NOT NULL;
CREATE INDEX undo_tokens_by_address ON undo_tokens (email);
CREATE INDEX seen_devices_by_age ON seen_devices (seen_at);
CREATE INDEX audit_events_by_owner ON audit_events (user_id, happened_at, id);
CREATE INDEX page_codes_by_expiry ON page_codes (expires_at);
CREATE INDEX limit_failures_by_account ON limit_failures (account_key);
CREATE INDEX audit_events_by_kind ON audit_events (kind, id);
CREATE INDEX audit_events_by_address ON audit_events (address, id) WHERE address IS NOT NULL;
CREATE INDEX audit_events_by_actor ON audit_events (actor, id) WHERE actor <> 'user';
CREATE INDEX audit_events_by_operator ON audit_events (operator_id, id) WHERE operator_id IS NOT NULL;
CREATE INDEX users_by_sign_in ON users (coalesce(last_sign_in_at, 0), id);
CREATE INDEX users_by_state ON users ((CASE WHEN banned_at IS NOT NULL THEN 'banned'
    WHEN deletes_at IS NOT NULL THEN 'deletion' WHEN pending THEN 'pending' WHEN email_verified THEN 'verified'
    ELSE 'unverified' END));
CREATE INDEX users_without_profile ON users (id) WHERE NOT has_profile;
CREATE INDEX sessions_by_age ON sessions (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_address ON sessions (address, created_at, id) WHERE ended_at IS NULL;
CREATE INDEX profiles_hidden ON profiles (user_id) WHERE NOT searchable;
CREATE INDEX imports_by_start ON imports (started_at, id);
CREATE INDEX credentials_by_class ON credentials (substr(data, 1, 40))
    WHERE substr(data, 1, 31) <> '$argon2id$v=19$m=19456,t=2,p=1$';
INSERT INTO health (id, beat) VALUES (1, 0);
INSERT INTO search_feed_state (id, purged, marked_place, marked_at) VALUES (1, 0, 0, 0);
INSERT INTO shared_version (id, version) VALUES (1, 0);
CREATE TRIGGER users_challenges_deleted AFTER DELETE ON users BEGIN
    DELETE FROM codes WHERE user_id = old.id;
    DELETE FROM link_tokens WHERE user_id = old.id;
END;
CREATE TRIGGER users_mails_deleted AFTER DELETE ON users BEGIN
    DELETE FROM outbox WHERE user_id = old.id;
END;
CREATE TRIGGER profiles_feed_inserted AFTER INSERT ON profiles WHEN new.searchable = 1 BEGIN
    INSERT INTO search_feed (profile_id, created_at) VALUES (new.id, new.created_at);
END;
CREATE TRIGGER profiles_feed_deleted AFTER DELETE ON profiles WHEN old.searchable = 1 BEGIN
    INSERT INTO search_feed (profile_id, created_at) VALUES (old.id, old.created_at);
END;
CREATE TRIGGER profiles_feed_updated
AFTER UPDATE OF searchable, folded_name, folded_username, folded_bio ON profiles
WHEN old.searchable <> new.searchable OR old.folded_name <> new.folded_name
    OR old.folded_username <> new.folded_username OR old.folded_bio <> new.folded_bio
BEGIN
    INSERT INTO search_feed (profile_id, created_at) VALUES (new.id, new.created_at);
END;
CREATE TRIGGER profiles_search_inserted AFTER INSERT ON profiles WHEN new.searchable = 1 BEGIN
    INSERT INTO profile_search_pending (search_id, indexed) VALUES (new.search_id, NULL) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER users_count_inserted AFTER INSERT ON users BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    VALUES ('', CASE WHEN new.banned_at IS NOT NULL THEN 'banned' WHEN new.deletes_at IS NOT NULL THEN 'deletion'
        WHEN new.pending THEN 'pending' WHEN new.email_verified THEN 'verified' ELSE 'unverified' END,
        new.created_at / 86400000, 0, 1)
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT '', 'no-profile', new.created_at / 86400000, 0, 1 WHERE NOT new.has_profile
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
CREATE TRIGGER users_count_deleted BEFORE DELETE ON users BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT p.provider, CASE WHEN old.banned_at IS NOT NULL THEN 'banned' WHEN old.deletes_at IS NOT NULL THEN 'deletion'
        WHEN old.pending THEN 'pending' WHEN old.email_verified THEN 'verified' ELSE 'unverified' END,
        old.created_at / 86400000, 0, -1
    FROM (SELECT '' AS provider UNION SELECT i.provider FROM identities AS i WHERE i.user_id = old.id) AS p WHERE TRUE
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT '', 'no-profile', old.created_at / 86400000, 0, -1 WHERE NOT old.has_profile
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
CREATE TRIGGER users_count_updated
AFTER UPDATE OF email_verified, pending, banned_at, deletes_at ON users
WHEN old.email_verified <> new.email_verified OR old.pending <> new.pending
    OR (old.banned_at IS NULL) <> (new.banned_at IS NULL) OR (old.deletes_at IS NULL) <> (new.deletes_at IS NULL)
BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT p.provider, CASE WHEN old.banned_at IS NOT NULL THEN 'banned' WHEN old.deletes_at IS NOT NULL THEN 'deletion'
        WHEN old.pending THEN 'pending' WHEN old.email_verified THEN 'verified' ELSE 'unverified' END,
        old.created_at / 86400000, 0, -1
    FROM (SELECT '' AS provider UNION SELECT i.provider FROM identities AS i WHERE i.user_id = old.id) AS p WHERE TRUE
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT p.provider, CASE WHEN new.banned_at IS NOT NULL THEN 'banned' WHEN new.deletes_at IS NOT NULL THEN 'deletion'
        WHEN new.pending THEN 'pending' WHEN new.email_verified THEN 'verified' ELSE 'unverified' END,
        new.created_at / 86400000, 0, 1
    FROM (SELECT '' AS provider UNION SELECT i.provider FROM identities AS i WHERE i.user_id = new.id) AS p WHERE TRUE
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
CREATE TRIGGER users_count_profiles AFTER UPDATE OF has_profile ON users WHEN old.has_profile <> new.has_profile BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    VALUES ('', 'no-profile', new.created_at / 86400000, 0, old.has_profile - new.has_profile)
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
CREATE TRIGGER identities_count_inserted AFTER INSERT ON identities
WHEN (SELECT count(*) FROM identities WHERE user_id = new.user_id AND provider = new.provider) = 1 BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT new.provider, CASE WHEN banned_at IS NOT NULL THEN 'banned' WHEN deletes_at IS NOT NULL THEN 'deletion'
        WHEN pending THEN 'pending' WHEN email_verified THEN 'verified' ELSE 'unverified' END,
        created_at / 86400000, 0, 1
    FROM users WHERE id = new.user_id
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
CREATE TRIGGER identities_count_deleted AFTER DELETE ON identities
WHEN NOT EXISTS (SELECT 1 FROM identities WHERE user_id = old.user_id AND provider = old.provider) BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT old.provider, CASE WHEN banned_at IS NOT NULL THEN 'banned' WHEN deletes_at IS NOT NULL THEN 'deletion'
        WHEN pending THEN 'pending' WHEN email_verified THEN 'verified' ELSE 'unverified' END,
        created_at / 86400000, 0, -1
    FROM users WHERE id = old.user_id
    ON CONFLICT DO UPDATE SET total = total + excluded.total;
END;
CREATE TRIGGER profiles_note_inserted AFTER INSERT ON profiles BEGIN
    UPDATE users SET has_profile = TRUE WHERE id = new.user_id AND NOT has_profile;
END;
CREATE TRIGGER profiles_note_deleted AFTER DELETE ON profiles BEGIN
    UPDATE users SET has_profile = FALSE WHERE id = old.user_id AND has_profile;
END;
CREATE TRIGGER profiles_search_deleted AFTER DELETE ON profiles BEGIN
    INSERT INTO profile_search (profile_search, rowid, words)
    SELECT 'delete', old.search_id, '  ' || replace(old.folded_name || ' ' || old.folded_username || ' ' || old.folded_bio
        || ' ' || upper(old.folded_name || ' ' || old.folded_username), ' ', '  ')
    WHERE old.searchable = 1
        AND NOT EXISTS (SELECT 1 FROM profile_search_pending WHERE search_id = old.search_id);
    INSERT INTO profile_search (profile_search, rowid, words)
    SELECT 'delete', search_id, indexed FROM profile_search_pending
    WHERE search_id = old.search_id AND indexed IS NOT NULL;
    DELETE FROM profile_search_pending WHERE search_id = old.search_id;
END;
CREATE TRIGGER profiles_search_updated
AFTER UPDATE OF searchable, folded_name, folded_username, folded_bio ON profiles
WHEN old.searchable <> new.searchable OR old.folded_name <> new.folded_name
    OR old.folded_username <> new.folded_username OR old.folded_bio <> new.folded_bio
BEGIN
    INSERT INTO profile_search_pending (search_id, indexed)
    VALUES (old.search_id,
        CASE old.searchable WHEN 1 THEN
            '  ' || replace(old.folded_name || ' ' || old.folded_username || ' ' || old.folded_bio
                || ' ' || upper(old.folded_name || ' ' || old.folded_username), ' ', '  ')
        END)
    ON CONFLICT DO NOTHING;
END;
