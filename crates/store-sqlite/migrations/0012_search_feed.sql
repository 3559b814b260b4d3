-- What changed of what search shows, for indexes beside the database. Places are counted up; one process writes at a
-- time, so changes become visible in the order of their places. Places up to `purged`
-- may be gone; those up to `marked_place` were there at `marked_at` and go next.

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

INSERT INTO search_feed_state (id, purged, marked_place, marked_at) VALUES (1, 0, 0, 0);

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
