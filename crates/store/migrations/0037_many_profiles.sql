-- What an insert of many profiles on PostgreSQL costs.

-- [postgres]

-- The service's sessions set the limit: an import has a longer list than a request.
ALTER INDEX profiles_by_trigram RESET (gin_pending_list_limit);

CREATE FUNCTION feed_new_profiles() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_feed (profile_id, created_at) SELECT id, created_at FROM new_profiles WHERE searchable;
    RETURN NULL;
END $$;

DROP TRIGGER profiles_feed_inserted ON profiles;
CREATE TRIGGER profiles_feed_inserted AFTER INSERT ON profiles
REFERENCING NEW TABLE AS new_profiles FOR EACH STATEMENT EXECUTE FUNCTION feed_new_profiles();
