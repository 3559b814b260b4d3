-- What links for sign-in have beyond other links; null in those.

-- The lane (known or other clients) that the link was mailed in, the SHA-256 of the verifier that the link works with,
-- and the address as typed, for an account that the link makes.
ALTER TABLE link_tokens ADD COLUMN lane BIGINT;
ALTER TABLE link_tokens ADD COLUMN code_challenge BYTEA;
ALTER TABLE link_tokens ADD COLUMN email TEXT COLLATE "C";
