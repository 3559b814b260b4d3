//! Parser of the CBOR that authenticators write, in the canonical form of CTAP2: RFC 8949 with lengths in their
//! shortest form, no indefinite lengths, no tags, no floats, and at most four levels of nesting. The order of keys is
//! not checked. Every byte is read at most once, so the time is linear.

/// Maximum nesting (CTAP2, section 8).
const DEEPEST: u8 = 4;

/// Error: the bytes are not canonical CBOR, or not of the expected type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Head of a data item: its type, with its value or its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Integer(i64),
    Bytes(usize),
    Text(usize),
    Array(usize),
    Map(usize),
    Simple,
}

/// A data item, with its value if it is an integer or a byte string. The values of other types are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
    Other,
}

/// Parser at a position in CBOR data.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// Returns the bytes not read yet.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Fails unless all bytes were read.
    pub(crate) const fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// Reads the head of a map and returns the number of its pairs.
    pub(crate) fn map(&mut self) -> Result<usize, Malformed> {
        if let Head::Map(pairs) = self.head()? { Ok(pairs) } else { Err(Malformed) }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        if let Head::Bytes(length) = self.head()? { self.take(length) } else { Err(Malformed) }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        if let Head::Text(length) = self.head()? { self.utf8(length) } else { Err(Malformed) }
    }

    pub(crate) fn integer(&mut self) -> Result<i64, Malformed> {
        if let Head::Integer(value) = self.head()? { Ok(value) } else { Err(Malformed) }
    }

    /// Reads one data item with everything in it.
    pub(crate) fn item(&mut self) -> Result<Item<'a>, Malformed> {
        self.item_within(DEEPEST)
    }

    fn item_within(&mut self, levels: u8) -> Result<Item<'a>, Malformed> {
        let children = match self.head()? {
            Head::Integer(value) => return Ok(Item::Integer(value)),
            Head::Bytes(length) => return self.take(length).map(Item::Bytes),
            Head::Text(length) => {
                self.utf8(length)?;
                0
            }
            Head::Simple => 0,
            Head::Array(items) => self.nested(items, levels)?,
            Head::Map(pairs) => self.nested(pairs.saturating_mul(2), levels)?,
        };
        for _ in 0..children {
            self.item_within(levels - 1)?;
        }
        Ok(Item::Other)
    }

    /// Refuses a collection that is nested too deeply, or has more items than bytes are left.
    fn nested(&self, items: usize, levels: u8) -> Result<usize, Malformed> {
        if levels == 0 || items > self.rest.len() { Err(Malformed) } else { Ok(items) }
    }

    fn head(&mut self) -> Result<Head, Malformed> {
        let [first] = self.array()?;
        let argument = self.argument(first & 0x1f)?;
        let integer = || i64::try_from(argument).map_err(|_| Malformed);
        let length = || usize::try_from(argument).map_err(|_| Malformed);
        Ok(match first >> 5 {
            0 => Head::Integer(integer()?),
            1 => Head::Integer(-1 - integer()?),
            2 => Head::Bytes(length()?),
            3 => Head::Text(length()?),
            4 => Head::Array(length()?),
            5 => Head::Map(length()?),
            // False, true and null.
            7 if matches!(first & 0x1f, 20..=22) => Head::Simple,
            _ => return Err(Malformed),
        })
    }

    /// Reads the number that follows the low five bits of the first byte. A longer encoding than necessary is
    /// malformed.
    fn argument(&mut self, low_bits: u8) -> Result<u64, Malformed> {
        let (argument, least) = match low_bits {
            0..24 => (low_bits.into(), 0),
            24 => (u8::from_be_bytes(self.array()?).into(), 24),
            25 => (u16::from_be_bytes(self.array()?).into(), 0x100),
            26 => (u32::from_be_bytes(self.array()?).into(), 0x1_0000),
            27 => (u64::from_be_bytes(self.array()?), 0x1_0000_0000),
            _ => return Err(Malformed),
        };
        if argument < least { Err(Malformed) } else { Ok(argument) }
    }

    fn utf8(&mut self, length: usize) -> Result<&'a str, Malformed> {
        str::from_utf8(self.take(length)?).map_err(|_| Malformed)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*array)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(hex: &str) -> Result<Item<'static>, Malformed> {
        let mut reader = Reader::new(hex::decode(hex).unwrap().leak());
        let item = reader.item()?;
        reader.end()?;
        Ok(item)
    }

    #[test]
    fn examples_of_rfc_8949_are_read() {
        for (hex, value) in [
            ("00", 0),
            ("17", 23),
            ("1818", 24),
            ("1903e8", 1_000),
            ("1a000f4240", 1_000_000),
            ("1b000000e8d4a51000", 1_000_000_000_000),
            ("20", -1),
            ("3863", -100),
            ("3903e7", -1_000),
            ("1b7fffffffffffffff", i64::MAX),
            ("3b7fffffffffffffff", i64::MIN),
        ] {
            assert_eq!(item(hex), Ok(Item::Integer(value)), "{hex}");
        }
        assert_eq!(item("4401020304"), Ok(Item::Bytes(&[1, 2, 3, 4])));
        for hex in ["f4", "f5", "f6", "6449455446", "80", "83010203", "a201020304", "8301820203820405"] {
            assert_eq!(item(hex), Ok(Item::Other), "{hex}");
        }
    }

    #[test]
    fn other_forms_are_malformed() {
        for (hex, why) in [
            ("", "nothing"),
            ("1817", "23 in two bytes"),
            ("1900ff", "255 in three bytes"),
            ("1a0000ffff", "65,535 in five bytes"),
            ("1b00000000ffffffff", "4,294,967,295 in nine bytes"),
            ("580401020304", "a length of 4 in two bytes"),
            ("1b8000000000000000", "more than 63 bits"),
            ("3b8000000000000000", "less than 63 bits"),
            ("1c", "a reserved argument"),
            ("5f4101ff", "an indefinite length"),
            ("9fff", "an indefinite array"),
            ("bfff", "an indefinite map"),
            ("c11a514b67b0", "a tag"),
            ("f7", "undefined"),
            ("f0", "an unassigned simple value"),
            ("f818", "a simple value in two bytes"),
            ("f93c00", "a float"),
            ("ff", "a break"),
            ("61ff", "text that is not UTF-8"),
            ("4201", "fewer bytes than announced"),
            ("8201", "fewer items than announced"),
            ("a101", "a key without a value"),
            ("9bffffffffffffffff", "more items than there are bytes"),
            ("bbffffffffffffffff", "more pairs than there are bytes"),
            ("0000", "a byte left over"),
        ] {
            assert_eq!(item(hex), Err(Malformed), "{why}");
        }
    }

    #[test]
    fn four_levels_are_the_deepest() {
        assert_eq!(item("8181818100"), Ok(Item::Other));
        assert_eq!(item("818181818100"), Err(Malformed));
        assert_eq!(item(&"81".repeat(10_000)), Err(Malformed));
    }

    proptest! {
        #[test]
        fn every_read_consumes_input(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = Reader::new(&data);
            loop {
                let before = reader.rest().len();
                let outcome = reader.head();
                prop_assert!(outcome.is_err() || reader.rest().len() < before);
                if outcome.is_err() {
                    break;
                }
            }
            let mut reader = Reader::new(&data);
            while reader.item().is_ok() {}
        }
    }
}
