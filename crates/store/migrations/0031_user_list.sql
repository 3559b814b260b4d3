-- What the list of users is sorted and filtered by, and how many users there are of each kind.

-- The time of the last completed sign-in; null if there was none.
ALTER TABLE users ADD COLUMN last_sign_in_at BIGINT;
-- True if the user has a profile. Triggers keep it.
ALTER TABLE users ADD COLUMN has_profile BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE users SET
    has_profile = EXISTS (SELECT 1 FROM profiles AS p WHERE p.user_id = users.id),
    last_sign_in_at = (SELECT max(e.happened_at) FROM audit_events AS e WHERE e.user_id = users.id AND e.kind = 'sign_in');

CREATE INDEX users_by_sign_in ON users (coalesce(last_sign_in_at, 0), id);
CREATE INDEX users_by_state ON users ((CASE WHEN banned_at IS NOT NULL THEN 'banned'
    WHEN deletes_at IS NOT NULL THEN 'deletion' WHEN pending THEN 'pending' WHEN email_verified THEN 'verified'
    ELSE 'unverified' END));
CREATE INDEX users_without_profile ON users (id) WHERE NOT has_profile;
-- What the list of live sessions is sorted and filtered by.
CREATE INDEX sessions_by_age ON sessions (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_address ON sessions (address, created_at, id) WHERE ended_at IS NULL;
CREATE INDEX profiles_hidden ON profiles (user_id) WHERE NOT searchable;

-- Numbers of users by state, identity provider (empty: all users) and day of creation in UTC (days since 1970). The state
-- 'no-profile' is counted apart. A number is the sum over the shards: a PostgreSQL server process writes its own shard, so
-- that no transaction waits for another; a purge adds them up in shard 0. Triggers keep the numbers.
CREATE TABLE user_counts (
    provider TEXT   COLLATE "C" NOT NULL,
    state    TEXT   COLLATE "C" NOT NULL,
    day      BIGINT NOT NULL,
    shard    BIGINT NOT NULL,
    total    BIGINT NOT NULL,
    PRIMARY KEY (provider, state, day, shard)
);

INSERT INTO user_counts (provider, state, day, shard, total)
SELECT '', CASE WHEN banned_at IS NOT NULL THEN 'banned' WHEN deletes_at IS NOT NULL THEN 'deletion'
    WHEN pending THEN 'pending' WHEN email_verified THEN 'verified' ELSE 'unverified' END,
    created_at / 86400000, 0, count(*)
FROM users GROUP BY 2, 3;

INSERT INTO user_counts (provider, state, day, shard, total)
SELECT '', 'no-profile', created_at / 86400000, 0, count(*) FROM users WHERE NOT has_profile GROUP BY 3;

INSERT INTO user_counts (provider, state, day, shard, total)
SELECT i.provider, CASE WHEN u.banned_at IS NOT NULL THEN 'banned' WHEN u.deletes_at IS NOT NULL THEN 'deletion'
    WHEN u.pending THEN 'pending' WHEN u.email_verified THEN 'verified' ELSE 'unverified' END,
    u.created_at / 86400000, 0, count(DISTINCT u.id)
FROM identities AS i JOIN users AS u ON u.id = i.user_id GROUP BY 1, 2, 3;

-- [postgres]

CREATE FUNCTION add_to_user_counts(of_provider TEXT, of_state TEXT, of_day BIGINT, change BIGINT) RETURNS void
LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO user_counts (provider, state, day, shard, total)
    VALUES (of_provider, of_state, of_day, pg_backend_pid(), change)
    ON CONFLICT (provider, state, day, shard) DO UPDATE SET total = user_counts.total + excluded.total
$$;

CREATE FUNCTION user_state(of_user users) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN of_user.banned_at IS NOT NULL THEN 'banned' WHEN of_user.deletes_at IS NOT NULL THEN 'deletion'
        WHEN of_user.pending THEN 'pending' WHEN of_user.email_verified THEN 'verified' ELSE 'unverified' END
$$;

-- Once a statement, because many inserts of one transaction would make long chains of versions of the same number.
CREATE FUNCTION count_new_users() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT '', CASE WHEN banned_at IS NOT NULL THEN 'banned' WHEN deletes_at IS NOT NULL THEN 'deletion'
        WHEN pending THEN 'pending' WHEN email_verified THEN 'verified' ELSE 'unverified' END,
        created_at / 86400000, pg_backend_pid(), count(*)
    FROM new_users GROUP BY 2, 3
    UNION ALL
    SELECT '', 'no-profile', created_at / 86400000, pg_backend_pid(), count(*)
    FROM new_users WHERE NOT has_profile GROUP BY 3
    ON CONFLICT (provider, state, day, shard) DO UPDATE SET total = user_counts.total + excluded.total;
    RETURN NULL;
END $$;

CREATE FUNCTION count_user() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM add_to_user_counts(p.provider, user_state(OLD), OLD.created_at / 86400000, -1) FROM (
        SELECT '' AS provider UNION SELECT i.provider FROM identities AS i WHERE i.user_id = OLD.id) AS p;
    IF NOT OLD.has_profile THEN
        PERFORM add_to_user_counts('', 'no-profile', OLD.created_at / 86400000, -1);
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    PERFORM add_to_user_counts(p.provider, user_state(NEW), NEW.created_at / 86400000, 1) FROM (
        SELECT '' AS provider UNION SELECT i.provider FROM identities AS i WHERE i.user_id = NEW.id) AS p;
    IF NOT NEW.has_profile THEN
        PERFORM add_to_user_counts('', 'no-profile', NEW.created_at / 86400000, 1);
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION count_identity() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_to_user_counts(NEW.provider, user_state(u), u.created_at / 86400000, 1)
        FROM users AS u WHERE u.id = NEW.user_id AND NOT EXISTS (
            SELECT 1 FROM identities AS i WHERE i.user_id = NEW.user_id AND i.provider = NEW.provider);
        RETURN NEW;
    END IF;
    PERFORM add_to_user_counts(OLD.provider, user_state(u), u.created_at / 86400000, -1)
    FROM users AS u WHERE u.id = OLD.user_id AND 1 = (
        SELECT count(*) FROM identities AS i WHERE i.user_id = OLD.user_id AND i.provider = OLD.provider);
    RETURN OLD;
END $$;

CREATE FUNCTION note_profile() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE users SET has_profile = TRUE WHERE id = NEW.user_id AND NOT has_profile;
    ELSE
        UPDATE users SET has_profile = FALSE WHERE id = OLD.user_id AND has_profile;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER users_count_inserted AFTER INSERT ON users
REFERENCING NEW TABLE AS new_users FOR EACH STATEMENT EXECUTE FUNCTION count_new_users();
CREATE TRIGGER users_count_deleted BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION count_user();
CREATE TRIGGER users_count_updated
AFTER UPDATE OF email_verified, pending, banned_at, deletes_at, has_profile ON users
FOR EACH ROW WHEN (OLD.email_verified <> NEW.email_verified OR OLD.pending <> NEW.pending
    OR (OLD.banned_at IS NULL) <> (NEW.banned_at IS NULL) OR (OLD.deletes_at IS NULL) <> (NEW.deletes_at IS NULL)
    OR OLD.has_profile <> NEW.has_profile)
EXECUTE FUNCTION count_user();

-- Before the change, because each row of a statement then sees the rows before it.
CREATE TRIGGER identities_count_inserted BEFORE INSERT ON identities FOR EACH ROW EXECUTE FUNCTION count_identity();
CREATE TRIGGER identities_count_deleted BEFORE DELETE ON identities FOR EACH ROW EXECUTE FUNCTION count_identity();

CREATE TRIGGER profiles_note_inserted AFTER INSERT ON profiles FOR EACH ROW EXECUTE FUNCTION note_profile();
CREATE TRIGGER profiles_note_deleted AFTER DELETE ON profiles FOR EACH ROW EXECUTE FUNCTION note_profile();

-- [sqlite]

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

-- A user who is being deleted is gone already, and was counted out with all identities.
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
