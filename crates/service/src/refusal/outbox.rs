//! Refusals that concern the mail transport and the development inbox.

use super::{NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    EMAIL_PROVIDER_NOT_CONFIGURED 400 "No mail transport is configured.",
        when "verification cannot be required without a mail transport",
        next "Configure a mail transport first.";
}

/// No mail in the development inbox has this id.
pub const MAIL_NOT_FOUND: Refusal = Refusal { message: "Not found: mail.", ..NOT_FOUND };
