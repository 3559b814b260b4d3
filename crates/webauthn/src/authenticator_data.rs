//! Authenticator data: the data about a ceremony that the authenticator provides, in binary
//! (WebAuthn section 6.1).

use aws_lc_rs::digest::{SHA256, digest};
use latchkey_domain::passkey::{Aaguid, CredentialId};

use crate::cbor::Reader;
use crate::flags::Flags;
use crate::refusal::Refusal;

/// Parsed authenticator data.
pub(crate) struct AuthenticatorData<'a> {
    rp_id_hash: [u8; 32],
    pub(crate) flags: Flags,
    pub(crate) counter: u32,
    /// The new credential, if the flag AT is set.
    pub(crate) credential: Option<AttestedCredential<'a>>,
}

/// Attested credential data: a new credential (WebAuthn section 6.5.1).
pub(crate) struct AttestedCredential<'a> {
    pub(crate) aaguid: Aaguid,
    pub(crate) id: CredentialId,
    /// The public key as bytes in COSE form. They are one CBOR map; its contents are not checked yet.
    pub(crate) key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    /// Parses the authenticator data and refuses bytes left over at the end. Extension outputs are skipped.
    pub(crate) fn parse(data: &'a [u8]) -> Result<Self, Refusal> {
        let mut rest = data;
        let rp_id_hash = take_array(&mut rest)?;
        let [flags] = take_array(&mut rest)?;
        let flags = Flags::parse(flags)?;
        let counter = u32::from_be_bytes(take_array(&mut rest)?);
        let credential =
            if flags.has_credential() { Some(AttestedCredential::take(&mut rest)?) } else { None };
        if flags.has_extensions() {
            take_map(&mut rest)?;
        }
        if !rest.is_empty() {
            return Err(Refusal::AuthenticatorData);
        }
        Ok(Self { rp_id_hash, flags, counter, credential })
    }

    /// Checks that the data contain the SHA-256 of this relying party id.
    pub(crate) fn check_rp_id(&self, rp_id: &str) -> Result<(), Refusal> {
        let expected = digest(&SHA256, rp_id.as_bytes());
        if self.rp_id_hash == expected.as_ref() { Ok(()) } else { Err(Refusal::RelyingParty) }
    }
}

impl<'a> AttestedCredential<'a> {
    fn take(rest: &mut &'a [u8]) -> Result<Self, Refusal> {
        let aaguid = Aaguid::new(take_array(rest)?);
        let length = u16::from_be_bytes(take_array(rest)?).into();
        let (id, after) = rest.split_at_checked(length).ok_or(Refusal::AuthenticatorData)?;
        let id = CredentialId::parse(id)?;
        *rest = after;
        let key = take_map(rest)?;
        Ok(Self { aaguid, id, key })
    }
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Refusal> {
    let (array, after) = rest.split_first_chunk().ok_or(Refusal::AuthenticatorData)?;
    *rest = after;
    Ok(*array)
}

/// Returns the bytes of the CBOR map at the start of `rest`, and removes them from `rest`.
fn take_map<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Refusal> {
    let mut reader = Reader::new(rest);
    let is_map = reader.clone().map().is_ok();
    let after = reader.item().map(|_| reader.rest());
    let (true, Ok(after)) = (is_map, after) else {
        return Err(Refusal::AuthenticatorData);
    };
    let taken = &rest[..rest.len() - after.len()];
    *rest = after;
    Ok(taken)
}
