-- The trigram index tells names and usernames from bios, so that a search of users looks at no profile for a word of its bio.

-- [postgres]

-- The trigrams of name and username stand before a null, the others after it. A profile without the null was written by an
-- earlier version: all of its trigrams count.
CREATE INDEX profiles_by_name_trigram ON profiles
USING gin ((trigrams[:coalesce(array_position(trigrams, NULL) - 1, cardinality(trigrams))])) WHERE searchable;

-- [sqlite]

-- Name and username stand in the index once more, in capital letters, which folded text does not have. What is indexed already
-- gets the trigrams that it lacks: those from its last two characters on.
INSERT INTO profile_search (rowid, words)
SELECT search_id, substr('  ' || replace(folded_name || ' ' || folded_username || ' ' || folded_bio, ' ', '  '), -2)
    || '  ' || replace(upper(folded_name || ' ' || folded_username), ' ', '  ')
FROM profiles AS p
WHERE searchable = 1 AND NOT EXISTS (SELECT 1 FROM profile_search_pending AS b WHERE b.search_id = p.search_id);

DROP TRIGGER profiles_search_deleted;
DROP TRIGGER profiles_search_updated;

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
