-- The counter of a client network names the counter of its account, so that the limits that hold for an account can be
-- listed and lifted. Both keys are hashes, and they are written alike for known and for unknown addresses: no column
-- tells whether an address has an account.
ALTER TABLE limit_failures ADD COLUMN account_key BYTEA CHECK (octet_length(account_key) = 16);
CREATE INDEX limit_failures_by_account ON limit_failures (account_key);
