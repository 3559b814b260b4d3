//! Many profiles taken a batch at a time, in little memory: what each batch says, sorted, one behind the other in a few
//! long lists. Lists so long go back to the system when they are done with; as many short ones would leave holes that
//! the process keeps.

use roaring::RoaringBitmap;

use crate::draft::{Collected, Draft, collect, merge, merge_keys};
use crate::inverted::{Inverted, Walk};
use crate::key::{Entry, Key};

/// Profiles of a batch at the most: their ranks take two bytes.
pub(crate) const MOST: usize = 1 << 16;

/// The batches so far.
#[derive(Default)]
pub(crate) struct Runs {
    keys: Vec<Key>,
    /// Where the keys of each batch end.
    ends: Vec<usize>,
    words: Lines,
    heads: Lines,
}

impl Runs {
    /// Adds a batch of at most [`MOST`] profiles, each of which comes once.
    pub(crate) fn push(&mut self, mut entries: Vec<&Entry>) {
        let (words, heads) = collect(&mut entries);
        self.keys.extend(entries.iter().map(|entry| entry.key));
        self.ends.push(self.keys.len());
        self.words.push(words);
        self.heads.push(heads);
    }

    /// All of them together.
    pub(crate) fn joined(self) -> Draft {
        let Self { keys: all, ends, words, heads } = self;
        let nobody = RoaringBitmap::new();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let batches: Vec<_> = starts.zip(&ends).map(|(start, &end)| (&all[start..end], &nobody)).collect();
        let (keys, places) = merge_keys(&batches);
        drop(all);
        let heads = heads.joined(&places);
        Draft { keys, heads, words: words.joined(&places) }
    }
}

/// Texts with their ranks, batch by batch, ascending in each: the length of the text and the count of ranks in four
/// bytes each, the text, the ranks in two bytes each.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Where each batch ends.
    ends: Vec<usize>,
    /// Of all texts, and how many ranks there are.
    text_bytes: usize,
    ranks: usize,
}

impl Lines {
    fn push(&mut self, collected: Collected<'_>) {
        collected.for_each_sorted(|text, ranks| {
            self.text_bytes += text.len();
            self.ranks += ranks.len();
            // A text of a profile has some thousands of bytes, and a batch has few profiles.
            for length in [text.len(), ranks.len()] {
                self.bytes.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
            }
            self.bytes.extend_from_slice(text.as_bytes());
            for &rank in ranks {
                self.bytes.extend(u16::try_from(rank).unwrap_or_default().to_le_bytes());
            }
        });
        self.ends.push(self.bytes.len());
    }

    fn joined(self, places: &[Vec<u32>]) -> Inverted {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let batches = starts.zip(&self.ends).map(|(start, &end)| Line::first(&self.bytes[start..end]));
        merge(batches.collect(), places, Inverted::with_capacity(self.text_bytes, self.ranks))
    }
}

/// A text of a batch, and what follows it.
struct Line<'a> {
    text: Option<&'a str>,
    ranks: &'a [[u8; 2]],
    rest: &'a [u8],
}

impl<'a> Line<'a> {
    fn first(batch: &'a [u8]) -> Self {
        let mut line = Self { text: None, ranks: &[], rest: batch };
        line.advance();
        line
    }

    /// The line that this begins with.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (text_length, rest) = length(bytes)?;
        let (count, rest) = length(rest)?;
        let (text, rest) = rest.split_at_checked(text_length)?;
        let (ranks, rest) = rest.split_at_checked(count * 2)?;
        Some(Self { text: std::str::from_utf8(text).ok(), ranks: ranks.as_chunks().0, rest })
    }
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*length)).ok()?, rest))
}

impl<'a> Walk<'a> for Line<'a> {
    fn text(&self) -> Option<&'a str> {
        self.text
    }

    fn for_each_rank(&self, mut see: impl FnMut(u32)) {
        self.ranks.iter().for_each(|rank| see(u16::from_le_bytes(*rank).into()));
    }

    fn advance(&mut self) {
        *self = Self::read(self.rest).unwrap_or(Self { text: None, ranks: &[], rest: &[] });
    }
}
