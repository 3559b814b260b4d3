-- Password hashes from elsewhere. Firebase's hashes of one project share a signer key, which is sealed.
CREATE TABLE hash_keys (
    id         UUID   NOT NULL PRIMARY KEY,
    sealed     BYTEA  NOT NULL,
    created_at BIGINT NOT NULL
);

-- Counts the work classes of hashes, which are beginnings of at most 40 bytes. Hashes under the default parameters,
-- most of all, are not in it.
CREATE INDEX credentials_by_class ON credentials (substr(data, 1, 40))
    WHERE substr(data, 1, 31) <> '$argon2id$v=19$m=19456,t=2,p=1$';
