-- The security events of one account, newest first, and names of sessions.

CREATE INDEX audit_events_by_user ON audit_events (user_id, happened_at, id) WHERE user_id IS NOT NULL;

ALTER TABLE sessions ADD COLUMN name TEXT COLLATE "C";
