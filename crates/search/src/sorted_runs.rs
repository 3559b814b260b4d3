//! Sorted runs of a bulk load, as in an external merge sort. They are encoded one after another in a few long buffers
//! until they are merged. Long buffers return to the operating system when freed; many short ones would fragment the
//! heap.

use roaring::RoaringBitmap;

use crate::inverted::{Inverted, TermCursor};
use crate::key::{Entry, Key};
use crate::segment_builder::{SegmentBuilder, TermCollector, collect, merge, merge_keys};

/// Maximum number of profiles in a run, so that a doc id within a run fits two bytes.
pub(crate) const MAX_RUN: usize = 1 << 16;

/// Sorted runs of profiles: their keys, and their encoded terms and postings.
#[derive(Default)]
pub(crate) struct SortedRuns {
    keys: Vec<Key>,
    /// Position in `keys` after the last profile of each run.
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

    /// Merges all runs into the content of one segment.
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

/// Encoded terms with their postings, one run after another, ascending within a run. A record consists of the length
/// of the term and the number of postings (4 bytes each, little-endian), the term, and the doc ids (2 bytes each).
#[derive(Default)]
struct EncodedTerms {
    bytes: Vec<u8>,
    /// Position in `bytes` after the last record of each run.
    offsets: Vec<usize>,
    /// Total length of the terms in bytes.
    text_bytes: usize,
    /// Total number of postings.
    docs: usize,
}

impl EncodedTerms {
    fn push(&mut self, collected: TermCollector<'_>) {
        collected.for_each_sorted(|text, docs| {
            self.text_bytes += text.len();
            self.docs += docs.len();
            // Both numbers fit: a term has at most some thousand bytes, and a run has few profiles.
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

/// Cursor over the records of a run: the decoded current record, and the bytes after it. `text` is `None` at the end.
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
