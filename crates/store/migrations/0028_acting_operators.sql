-- The operator who caused an event in the console; null for every other actor. There is no foreign key: the id outlives the
-- account.
ALTER TABLE audit_events ADD COLUMN operator_id UUID;
