//! Which parts become one, and how the new one takes its place beside what changed meanwhile.

use std::sync::{Arc, MutexGuard};

use super::{Index, Masked, View, locked};
use crate::draft::Draft;
use crate::key::Entry;
use crate::part::Part;

/// So many parts of about the same size become one.
const ALIKE: usize = 4;

/// Parts that are being merged, until this is dropped.
pub(super) struct Merging<'a> {
    index: &'a Index,
    pub(super) parts: Vec<Masked>,
}

impl Drop for Merging<'_> {
    fn drop(&mut self) {
        locked(&self.index.merging).retain(|part| !self.parts.iter().any(|one| Arc::ptr_eq(&one.part, part)));
    }
}

impl Index {
    /// Makes a part of what is fresh.
    pub(super) fn settle(&self, _turn: MutexGuard<'_, ()>) {
        let then = self.view.load_full();
        if then.fresh.is_empty() {
            return; // another one was quicker
        }
        let entries: Vec<&Entry> = then.fresh.iter().map(Arc::as_ref).collect();
        let part = Part::of(Draft::of(entries));
        self.change(|now| now.settle(&then.fresh, part));
    }

    /// Makes one part of several, or of one that is worn. Answers whether there were any.
    pub(super) fn merge(&self) -> bool {
        let Some(chosen) = self.choose() else { return false };
        let sources: Vec<_> = chosen.parts.iter().map(|one| one.part.source(&one.hidden)).collect();
        let part = Part::of(Draft::merged(&sources));
        locked(&self.replaced).extend(chosen.parts.iter().map(|one| Arc::clone(&one.part)));
        self.change(|now| now.replace(&chosen.parts, part));
        true
    }

    /// Frees the replaced parts that nobody searches any more.
    pub(super) fn free(&self) {
        let mut replaced = locked(&self.replaced);
        let unused: Vec<_> = replaced.extract_if(.., |part| Arc::strong_count(part) == 1).collect();
        drop(replaced);
        drop(unused);
    }

    pub(super) fn choose(&self) -> Option<Merging<'_>> {
        let mut merging = locked(&self.merging);
        let parts = choose(&self.view.load().parts, &merging)?;
        merging.extend(parts.iter().map(|one| Arc::clone(&one.part)));
        Some(Merging { index: self, parts })
    }
}

/// The parts to be merged next, if any, of those that nobody merges yet: the smallest that are many, or one of which
/// much is hidden. The smallest come first, so that they do not become many while a large one is made anew.
pub(super) fn choose(parts: &[Masked], merging: &[Arc<Part>]) -> Option<Vec<Masked>> {
    let mut by_size: Vec<(u32, &Masked)> = parts
        .iter()
        .filter(|one| !merging.iter().any(|part| Arc::ptr_eq(part, &one.part)))
        .map(|one| (class(one), one))
        .collect();
    by_size.sort_by_key(|(class, _)| *class);
    let alike = by_size.chunk_by(|a, b| a.0 == b.0).find(|alike| alike.len() >= ALIKE);
    let worn = by_size.iter().find(|(_, one)| one.hidden.len() * 4 > one.part.keys.len() as u64);
    match (alike, worn) {
        (Some(alike), worn) if worn.is_none_or(|worn| alike[0].0 <= worn.0) => {
            Some(alike.iter().map(|(_, one)| (*one).clone()).collect())
        }
        (_, worn) => worn.map(|(_, one)| vec![(*one).clone()]),
    }
}

/// Parts of the same class differ in size by less than [`ALIKE`] times.
fn class(one: &Masked) -> u32 {
    one.part.keys.len().max(1).ilog(ALIKE)
}

impl View {
    /// The fresh entries of then are in this part now, but for what changed since.
    pub(super) fn settle(&mut self, then: &[Arc<Entry>], part: Part) {
        let mut masked = Masked { part: Arc::new(part), hidden: Arc::default() };
        for entry in then {
            match self.fresh.binary_search_by_key(&entry.key, |other| other.key) {
                Ok(at) if Arc::ptr_eq(&self.fresh[at], entry) => {}
                _ => masked.hide(&entry.key),
            }
        }
        self.fresh.retain(|entry| {
            let at = then.binary_search_by_key(&entry.key, |other| other.key);
            !at.is_ok_and(|at| Arc::ptr_eq(&then[at], entry))
        });
        self.parts.push(masked);
    }

    /// The parts of then are this part now, but for what was hidden since.
    pub(super) fn replace(&mut self, then: &[Masked], part: Part) {
        let mut masked = Masked { part: Arc::new(part), hidden: Arc::default() };
        let (replaced, mut kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.parts)
            .into_iter()
            .partition(|one| then.iter().any(|other| Arc::ptr_eq(&other.part, &one.part)));
        for one in replaced {
            let Some(before) = then.iter().find(|other| Arc::ptr_eq(&other.part, &one.part)) else {
                continue;
            };
            for rank in &*one.hidden - &*before.hidden {
                masked.hide(&one.part.keys[rank as usize]);
            }
        }
        if !masked.part.keys.is_empty() {
            kept.push(masked);
        }
        self.parts = kept;
    }
}
