-- Which profiles may match a search: the trigrams of their folded words, each as a number that the engine makes of
-- its three characters. Two spaces stand before each word, so that the beginning of a word is a trigram as well
-- ('  a', ' ad'). The index only names candidates; the folded columns decide. It needs no extension and knows every
-- script, whatever the database's locale. Profiles that are not searchable are not in it.

ALTER TABLE profiles ADD COLUMN trigrams INTEGER[] NOT NULL DEFAULT '{}';

CREATE INDEX profiles_by_trigram ON profiles USING gin (trigrams) WITH (gin_pending_list_limit = 256)
WHERE searchable;
