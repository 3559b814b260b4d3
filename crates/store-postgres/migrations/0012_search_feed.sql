-- What changed of what search shows, for indexes beside the database. The place is the number of the transaction:
-- transactions end in another order than their numbers, so a reader compares with the snapshot of its last reading
-- and not with the greatest place that it saw. Places before `purged` may be gone; those
-- before `marked_place` were there at `marked_at` and go next.

CREATE TABLE search_feed (
    place      BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
    profile_id UUID   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX search_feed_by_place ON search_feed (place, profile_id);

CREATE TABLE search_feed_state (
    id           BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    purged       BIGINT NOT NULL,
    marked_place BIGINT NOT NULL,
    marked_at    BIGINT NOT NULL
);

INSERT INTO search_feed_state (id, purged, marked_place, marked_at) VALUES (1, 0, 0, 0);

CREATE FUNCTION feed_search() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO search_feed (profile_id, created_at) VALUES (OLD.id, OLD.created_at);
    ELSE
        INSERT INTO search_feed (profile_id, created_at) VALUES (NEW.id, NEW.created_at);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER profiles_feed_inserted AFTER INSERT ON profiles
FOR EACH ROW WHEN (NEW.searchable) EXECUTE FUNCTION feed_search();

CREATE TRIGGER profiles_feed_deleted AFTER DELETE ON profiles
FOR EACH ROW WHEN (OLD.searchable) EXECUTE FUNCTION feed_search();

CREATE TRIGGER profiles_feed_updated
AFTER UPDATE OF searchable, folded_name, folded_username, folded_bio ON profiles
FOR EACH ROW WHEN (OLD.searchable <> NEW.searchable OR OLD.folded_name <> NEW.folded_name
    OR OLD.folded_username <> NEW.folded_username OR OLD.folded_bio <> NEW.folded_bio)
EXECUTE FUNCTION feed_search();
