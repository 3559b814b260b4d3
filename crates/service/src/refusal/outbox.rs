//! Refusals that concern the mail transport and the development inbox.

use super::{NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    EMAIL_PROVIDER_NOT_CONFIGURED 400 "No mail transport is configured.",
        when "verification cannot be required without a mail transport",
        next "Configure a mail transport first.";
    MAIL_NOT_RETRIED 409 "This mail cannot be sent again.",
        when "an admin wants to send a mail again that is not dead, or whose code or link has expired, was used or was replaced; the message says which",
        next "Send a new mail instead: a verification or a reset to the user.";
    MAIL_NOT_SENT 409 "This mail cannot be sent to the user.",
        when "an admin wants to send a verification to a verified address, or any mail to a banned account; the message says which",
        next "Read the user again; its state decides which mails it can get.";
}

/// No mail in the development inbox has this id.
pub const MAIL_NOT_FOUND: Refusal = Refusal { message: "Not found: mail.", ..NOT_FOUND };

/// No mail in the outbox has this id.
pub const MAIL_UNKNOWN: Refusal = Refusal {
    message: "There is no mail with this id.",
    next_action: "Check the id; mails that were sent more than 30 days ago are deleted.",
    ..NOT_FOUND
};

/// The mail still waits for its next attempt.
pub const MAIL_NOT_DEAD: Refusal = Refusal {
    message: "This mail is not dead: it waits for its next attempt.",
    next_action: "Wait; it is sent again by itself.",
    ..MAIL_NOT_RETRIED
};

/// The mail was sent, and its content is deleted.
pub const MAIL_WAS_SENT: Refusal =
    Refusal { message: "This mail was sent, and its content is deleted.", ..MAIL_NOT_RETRIED };

/// The code or link in the mail has expired.
pub const MAIL_EXPIRED: Refusal =
    Refusal { message: "The code or link in this mail has expired.", ..MAIL_NOT_RETRIED };

/// The code or link in the mail was used, or replaced by that of a newer mail.
pub const MAIL_REPLACED: Refusal = Refusal {
    message: "The code or link in this mail was used, or a newer mail replaced it.",
    ..MAIL_NOT_RETRIED
};

/// The content of the mail cannot be read: it was sealed under another server secret, or is gone.
pub const MAIL_UNREADABLE: Refusal =
    Refusal { message: "The content of this mail cannot be read any more.", ..MAIL_NOT_RETRIED };

/// The address is verified already.
pub const MAIL_TO_VERIFIED: Refusal = Refusal {
    message: "The address is verified already.",
    next_action: "Send a reset instead, if the user forgot the password.",
    ..MAIL_NOT_SENT
};

/// The account is banned.
pub const MAIL_TO_BANNED: Refusal = Refusal {
    message: "The account is banned, so it gets no codes or links.",
    next_action: "Lift the ban first.",
    ..MAIL_NOT_SENT
};
