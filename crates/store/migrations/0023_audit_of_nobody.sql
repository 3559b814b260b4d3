-- One index for the events of accounts and for those of no account, so that the event of a known address is written at the
-- same cost as that of an unknown one.
CREATE INDEX audit_events_by_owner ON audit_events (user_id, happened_at, id);
DROP INDEX audit_events_by_user;
DROP INDEX audit_events_of_nobody;
