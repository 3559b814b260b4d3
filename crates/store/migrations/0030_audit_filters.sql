-- Indexes by which the audit log is filtered. Ids of events are in the order of their times, so that one index serves a
-- filter, its times and its pages. Most events are caused by users, so that the index of actors leaves them out.

CREATE INDEX audit_events_by_kind ON audit_events (kind, id);
CREATE INDEX audit_events_by_address ON audit_events (address, id) WHERE address IS NOT NULL;
CREATE INDEX audit_events_by_actor ON audit_events (actor, id) WHERE actor <> 'user';
CREATE INDEX audit_events_by_operator ON audit_events (operator_id, id) WHERE operator_id IS NOT NULL;
