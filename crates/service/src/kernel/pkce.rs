//! PKCE challenges (RFC 7636) of apps, for sign-in through a provider and by mailed link.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use latchkey_domain::reason::Reason;
use latchkey_domain::tokens::TokenHash;

use crate::error::{Error, Result};

/// Decoder of PKCE challenges. The 43 base64url characters have two bits more than a SHA-256 hash; these two bits are
/// ignored.
const CHALLENGE: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// Parses the PKCE challenge of a request, of the method S256. The challenge is a SHA-256 itself, so it is stored as a
/// token hash.
pub(crate) fn read_challenge(text: Option<&str>) -> Result<TokenHash> {
    let refuse = |reason, problem| Error::validation("code_challenge", reason, problem);
    let text =
        text.ok_or_else(|| refuse(Reason::Required, "is required: PKCE with the method S256 (RFC 7636)"))?;
    let bytes = CHALLENGE.decode(text).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    bytes.map(TokenHash::from_bytes).ok_or_else(|| {
        refuse(Reason::InvalidFormat, "must be 43 characters of base64url: the method is S256")
    })
}
