-- The session that began a change of address and that alone may confirm it; null in rows of earlier releases.
ALTER TABLE email_changes ADD COLUMN session_id UUID;

-- Every undo token reserves the address that it was mailed to, not only that of a changed address.
CREATE INDEX undo_tokens_by_address ON undo_tokens (email);
DROP INDEX undo_tokens_by_email;
