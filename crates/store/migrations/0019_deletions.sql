-- Deletion of an account by its owner.

-- The time from which an account in deletion is deleted for good; null for all others.
ALTER TABLE users ADD COLUMN deletes_at BIGINT;
CREATE INDEX users_by_deletion ON users (deletes_at) WHERE deletes_at IS NOT NULL;

-- The passkey that was shown before the challenge, which the session remembers.
ALTER TABLE challenges ADD COLUMN passkey_id UUID;
