-- Sessions of the service's own pages.

-- 'app' or 'pages'. Both token hashes of a page session are the hash of its token.
ALTER TABLE sessions ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'app';

-- The SHA-256 of the secret of the browser that a page session belongs to; null in app sessions.
ALTER TABLE sessions ADD COLUMN browser_hash BYTEA CHECK (octet_length(browser_hash) = 32);

-- The page session that an app session was opened from.
ALTER TABLE sessions ADD COLUMN opened_from UUID;
