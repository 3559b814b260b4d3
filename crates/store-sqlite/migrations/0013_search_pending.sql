-- Bringing the trigram index up to date costs more than all the rest of a change, and less by far for many changes at
-- once. So a change only notes that the index is behind for a profile, and with which words it still has it; a search
-- looks at these profiles one by one.

CREATE TABLE profile_search_pending (
    search_id INTEGER NOT NULL PRIMARY KEY,
    indexed   TEXT -- null: the index has nothing of it
) STRICT;

DROP TRIGGER profiles_search_inserted;
DROP TRIGGER profiles_search_deleted;
DROP TRIGGER profiles_search_updated;

CREATE TRIGGER profiles_search_inserted AFTER INSERT ON profiles WHEN new.searchable = 1 BEGIN
    INSERT INTO profile_search_pending (search_id, indexed) VALUES (new.search_id, NULL) ON CONFLICT DO NOTHING;
END;

-- Of a profile that is gone, nothing is left to wait for.
CREATE TRIGGER profiles_search_deleted AFTER DELETE ON profiles BEGIN
    INSERT INTO profile_search (profile_search, rowid, words)
    SELECT 'delete', old.search_id,
        '  ' || replace(old.folded_name || ' ' || old.folded_username || ' ' || old.folded_bio, ' ', '  ')
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
            '  ' || replace(old.folded_name || ' ' || old.folded_username || ' ' || old.folded_bio, ' ', '  ')
        END)
    ON CONFLICT DO NOTHING;
END;
