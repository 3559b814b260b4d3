//! `/api/auth/challenges`: the challenge of a sign-in, which asks for a second factor, and that of a reauthentication.

use latchkey_domain::challenge::ChallengeId;
use latchkey_service::refusal::INVALID_CHALLENGE;

use crate::error::Result;

pub mod answer;
pub mod passkey_options;
pub mod send_code;

/// Parses the id of a challenge. A malformed id gets the error of an unknown id.
fn challenge_id(text: &str) -> Result<ChallengeId> {
    Ok(ChallengeId::parse(text).ok_or(&INVALID_CHALLENGE)?)
}
