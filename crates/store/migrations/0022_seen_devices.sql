-- Mails about sign-ins from new devices.

-- Time of the last such mail; null for an account that never had a session, 0 if it never got the mail.
ALTER TABLE users ADD COLUMN device_mail_at BIGINT;

-- Devices with their networks from which an account was used. There is no foreign key: a refresh writes here without
-- the lock of the user.
CREATE TABLE seen_devices (
    user_id UUID   NOT NULL,
    device  TEXT   COLLATE "C" NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, device)
);

CREATE INDEX seen_devices_by_age ON seen_devices (seen_at);
