//! Sorted runs of a bulk load, encoded one behind the other in a few long buffers until they are merged.
//! Buffers that long return to the operating system when freed; many short ones would fragment the heap.

use roaring::RoaringBitmap;

use crate::inverted::{Inverted, TermCursor};
use crate::key::{Entry, Key};
use crate::segment_builder::{SegmentBuilder, TermCollector, collect, merge, merge_keys};

/// Largest run in profiles: doc ids within a run take two bytes.
pub(crate) const MAX_RUN: usize = 1 << 16;

/// The runs so far.
#[derive(Default)]
pub(crate) struct SortedRuns {
    keys: Vec<Key>,
    /// End of each run in `keys`.
    offsets: Vec<usize>,
    words: EncodedTerms,
    exact_keys: EncodedTerms,
}

impl SortedRuns {
    /// Adds a run of at most [`MAX_RUN`] profiles with distinct keys.
    pub(crate) fn push(&mut self, mut entries: Vec<&Entry>) {
        let (words, exact_keys) = collect(&mut entries);
        self.keys.extend(entries.iter().map(|entry| entry.key));
        self.offsets.push(self.keys.len());
        self.words.push(words);
        self.exact_keys.push(exact_keys);
    }

    /// Merges all runs.
    pub(crate) fn merged(self) -> SegmentBuilder {
        let Self { keys: all, offsets, words, exact_keys } = self;
        let none_hidden = RoaringBitmap::new();
        let starts = std::iter::once(0).chain(offsets.iter().copied());
        let runs: Vec<_> =
            starts.zip(&offsets).map(|(start, &end)| (&all[start..end], &none_hidden)).collect();
        let (keys, doc_maps) = merge_keys(&runs);
        drop(all);
        let exact_keys = exact_keys.merged(&doc_maps);
        SegmentBuilder { keys, exact_keys, words: words.merged(&doc_maps) }
    }
}

/// Terms with their postings, run by run, ascending in each. A record is: length of the term and number of
/// postings (4 bytes each, little-endian), the term, the doc ids (2 bytes each).
#[derive(Default)]
struct EncodedTerms {
    bytes: Vec<u8>,
    /// End of each run in `bytes`.
    offsets: Vec<usize>,
    /// Total bytes of the terms; `docs` is the total number of postings.
    text_bytes: usize,
    docs: usize,
}

impl EncodedTerms {
    fn push(&mut self, collected: TermCollector<'_>) {
        collected.for_each_sorted(|text, docs| {
            self.text_bytes += text.len();
            self.docs += docs.len();
            // A term has at most some thousand bytes, a run few profiles.
            for length in [text.len(), docs.len()] {
                self.bytes.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
            }
            self.bytes.extend_from_slice(text.as_bytes());
            for &doc in docs {
                self.bytes.extend(u16::try_from(doc).unwrap_or_default().to_le_bytes());
            }
        });
        self.offsets.push(self.bytes.len());
    }

    fn merged(self, doc_maps: &[Vec<u32>]) -> Inverted {
        let starts = std::iter::once(0).chain(self.offsets.iter().copied());
        let runs = starts.zip(&self.offsets).map(|(start, &end)| TermRecord::first(&self.bytes[start..end]));
        merge(runs.collect(), doc_maps, Inverted::with_capacity(self.text_bytes, self.docs))
    }
}

/// A decoded record and the bytes after it.
struct TermRecord<'a> {
    text: Option<&'a str>,
    docs: &'a [[u8; 2]],
    rest: &'a [u8],
}

impl<'a> TermRecord<'a> {
    fn first(run: &'a [u8]) -> Self {
        let mut record = Self { text: None, docs: &[], rest: run };
        record.advance();
        record
    }

    /// Decodes the first record.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (text_length, rest) = length(bytes)?;
        let (count, rest) = length(rest)?;
        let (text, rest) = rest.split_at_checked(text_length)?;
        let (docs, rest) = rest.split_at_checked(count * 2)?;
        Some(Self { text: std::str::from_utf8(text).ok(), docs: docs.as_chunks().0, rest })
    }
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*length)).ok()?, rest))
}

impl<'a> TermCursor<'a> for TermRecord<'a> {
    fn text(&self) -> Option<&'a str> {
        self.text
    }

    fn for_each_doc(&self, mut see: impl FnMut(u32)) {
        self.docs.iter().for_each(|doc| see(u16::from_le_bytes(*doc).into()));
    }

    fn advance(&mut self) {
        *self = Self::read(self.rest).unwrap_or(Self { text: None, docs: &[], rest: &[] });
    }
}
