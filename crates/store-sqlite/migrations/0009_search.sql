-- Which profiles may match a search: the trigrams of their folded words. Two spaces stand before each word, so that
-- the beginning of a word is a trigram as well ('  a', ' ad'). The index only names candidates; the folded columns
-- decide. Profiles that are not searchable are not in it.

CREATE VIRTUAL TABLE profile_search USING fts5 (
    words, content = '', columnsize = 0, detail = 'none', tokenize = 'trigram case_sensitive 1'
);

CREATE TRIGGER profiles_search_inserted AFTER INSERT ON profiles WHEN new.searchable = 1 BEGIN
    INSERT INTO profile_search (rowid, words)
    VALUES (new.search_id,
        '  ' || replace(new.folded_name || ' ' || new.folded_username || ' ' || new.folded_bio, ' ', '  '));
END;

CREATE TRIGGER profiles_search_deleted AFTER DELETE ON profiles WHEN old.searchable = 1 BEGIN
    INSERT INTO profile_search (profile_search, rowid, words)
    VALUES ('delete', old.search_id,
        '  ' || replace(old.folded_name || ' ' || old.folded_username || ' ' || old.folded_bio, ' ', '  '));
END;

CREATE TRIGGER profiles_search_updated
AFTER UPDATE OF searchable, folded_name, folded_username, folded_bio ON profiles
WHEN old.searchable <> new.searchable OR old.folded_name <> new.folded_name
    OR old.folded_username <> new.folded_username OR old.folded_bio <> new.folded_bio
BEGIN
    INSERT INTO profile_search (profile_search, rowid, words)
    SELECT 'delete', old.search_id,
        '  ' || replace(old.folded_name || ' ' || old.folded_username || ' ' || old.folded_bio, ' ', '  ')
    WHERE old.searchable = 1;
    INSERT INTO profile_search (rowid, words)
    SELECT new.search_id,
        '  ' || replace(new.folded_name || ' ' || new.folded_username || ' ' || new.folded_bio, ' ', '  ')
    WHERE new.searchable = 1;
END;
