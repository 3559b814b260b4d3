//! The attestation object: authenticator data with a statement about the authenticator, in CBOR (WebAuthn section 6.5.4).

use crate::cbor::{Malformed, Reader};
use crate::refusal::{Field, Refusal};

/// Returns the authenticator data of an attestation object. Format and attestation statement are skipped.
pub(crate) fn authenticator_data(object: &[u8]) -> Result<&[u8], Refusal> {
    Field::AttestationObject.check(object)?;
    read(object).map_err(|Malformed| Refusal::AttestationObject)
}

/// Reads the three members `fmt`, `attStmt` and `authData`, in any order. The map must have exactly three entries, so
/// a repeated member is refused too: another one is then missing.
fn read(object: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new(object);
    if reader.map()? != 3 {
        return Err(Malformed);
    }
    let (mut format, mut statement, mut data) = (None, None, None);
    for _ in 0..3 {
        match reader.text()? {
            "fmt" => format = Some(reader.text()?),
            "attStmt" => statement = Some(reader.item()?),
            "authData" => data = Some(reader.bytes()?),
            _ => return Err(Malformed),
        }
    }
    reader.end()?;
    format.and(statement).and(data).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three members in CBOR: format "none", an empty statement, one byte of data.
    const FORMAT: &str = "63666d74646e6f6e65";
    const STATEMENT: &str = "6761747453746d74a0";
    const DATA: &str = "686175746844617461412a";

    fn judge(parts: &[&str]) -> Result<Vec<u8>, Refusal> {
        authenticator_data(&hex::decode(parts.concat()).unwrap()).map(<[u8]>::to_vec)
    }

    #[test]
    fn members_are_read_in_any_order() {
        assert_eq!(judge(&["a3", FORMAT, STATEMENT, DATA]), Ok(vec![42]));
        assert_eq!(judge(&["a3", DATA, FORMAT, STATEMENT]), Ok(vec![42]));
    }

    #[test]
    fn other_members_are_refused() {
        for parts in [
            &["a2", FORMAT, DATA][..],
            &["a2", STATEMENT, DATA],
            &["a2", FORMAT, STATEMENT],
            &["a3", FORMAT, FORMAT, DATA],
            &["a3", FORMAT, DATA, DATA],
            &["a4", FORMAT, STATEMENT, DATA, DATA],
            &["a4", FORMAT, STATEMENT, DATA, "6178", "00"],
            &["a3", FORMAT, STATEMENT, "6178", "00"],
            &["a3", FORMAT, STATEMENT, "686175746844617461612a"],
            &["a3", "63666d7400", STATEMENT, DATA],
            &["a3", FORMAT, STATEMENT, DATA, "00"],
            &["83", FORMAT, STATEMENT, DATA],
            &["b803", FORMAT, STATEMENT, DATA],
            &["bf", FORMAT, STATEMENT, DATA, "ff"],
            &[],
        ] {
            assert_eq!(judge(parts), Err(Refusal::AttestationObject), "{parts:?}");
        }
    }

    #[test]
    fn longer_objects_are_refused_unread() {
        assert_eq!(authenticator_data(&vec![0; 16_384]), Err(Refusal::AttestationObject));
        assert_eq!(authenticator_data(&vec![0; 16_385]), Err(Refusal::TooLong(Field::AttestationObject)));
    }
}
