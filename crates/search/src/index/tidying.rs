//! Which parts become one, and how the new one takes its place beside what changed meanwhile.

use std::sync::Arc;

use super::{Masked, View};
use crate::key::Entry;
use crate::part::Part;

/// So many parts of about the same size become one.
const ALIKE: usize = 4;

/// The parts to be merged next, if any: the smallest that are many, or one of which much is hidden.
pub(super) fn choose(parts: &[Masked]) -> Option<Vec<Masked>> {
    if let Some(worn) = parts.iter().find(|one| one.hidden.len() * 4 > one.part.keys.len() as u64) {
        return Some(vec![worn.clone()]);
    }
    let mut by_size: Vec<(u32, &Masked)> = parts.iter().map(|one| (class(one), one)).collect();
    by_size.sort_by_key(|(class, _)| *class);
    let alike = by_size.chunk_by(|a, b| a.0 == b.0).find(|alike| alike.len() >= ALIKE)?;
    Some(alike.iter().map(|(_, one)| (*one).clone()).collect())
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
