//! What so many words hold that uniting their profiles at every query would take long. Whatever holds a longer text
//! holds the shorter one too, so the common texts are found by growing common ones, character by character.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{Decoded, Gram, Grams, SCALAR_BITS, grams_of};
use crate::inverted::Inverted;
use crate::unions::{Prepared, cost, unite};

/// Nanoseconds that uniting may take at a query, for a text of three characters or more.
const DEAR: u64 = if cfg!(test) { 300 } else { 700_000 };
/// The same for one or two characters: a query has many such words.
const DEAR_WHEN_SHORT: u64 = if cfg!(test) { 300 } else { 100_000 };
/// The longest text in characters that is prepared. What many words share beyond that is looked up word by word.
const LONGEST: usize = 64;

/// A place where a text stands: in which word, and at which byte it ends.
type Place = (usize, usize);

/// The sets of the common texts of three characters or more.
pub(super) fn prepare(
    words: &Inverted,
    profiles: usize,
    costs: &[u64],
    grams: &Grams,
    weights: &[u64],
) -> Prepared {
    let mut prepared = Prepared::new();
    for (number, gram) in grams.known.iter().enumerate() {
        if weights[number] <= DEAR {
            continue;
        }
        let mut places: Vec<Place> = Vec::new();
        for word in Decoded::new(grams.list(number)) {
            let found = grams_of(words.texts.get(word)).filter(|(_, other)| other == gram);
            places.extend(found.map(|(end, _)| (word, end)));
        }
        let mut grower = Grower { words, profiles, costs, prepared: &mut prepared };
        grower.grow(&mut text_of(*gram), 3, &mut places, None);
    }
    prepared
}

fn text_of(gram: Gram) -> String {
    let char_at = |number: u32| {
        let bits = gram >> (number * SCALAR_BITS) & ((1 << SCALAR_BITS) - 1);
        u32::try_from(bits).ok().and_then(char::from_u32)
    };
    [char_at(2), char_at(1), char_at(0)].into_iter().flatten().collect()
}

struct Grower<'a> {
    words: &'a Inverted,
    profiles: usize,
    costs: &'a [u64],
    prepared: &'a mut Prepared,
}

impl Grower<'_> {
    /// Prepares this text, which stands at these places (ascending), and what it can be grown to.
    fn grow(
        &mut self,
        text: &mut String,
        chars: usize,
        places: &mut [Place],
        shorter: Option<(usize, &Arc<RoaringBitmap>)>,
    ) {
        let holders = count_words(places);
        let set = match shorter {
            Some((count, set)) if count == holders => Arc::clone(set),
            _ => Arc::new(unite(self.words, distinct(places), self.profiles)),
        };
        self.prepared.insert(text.as_str().into(), Arc::clone(&set));
        if chars == LONGEST {
            return;
        }

        places.sort_by_key(|&place| self.next_char(place));
        let mut rest = places;
        while let Some(&first) = rest.first() {
            let next = self.next_char(first);
            let count = rest.partition_point(|&place| self.next_char(place) <= next);
            let (group, others) = rest.split_at_mut(count);
            rest = others;
            let Some(next) = next else { continue };
            let weight: u64 = distinct(group).map(|word| self.costs[word]).sum();
            if weight > DEAR {
                for (_, end) in group.iter_mut() {
                    *end += next.len_utf8();
                }
                text.push(next);
                self.grow(text, chars + 1, group, Some((holders, &set)));
                text.pop();
            }
        }
    }

    fn next_char(&self, (word, end): Place) -> Option<char> {
        self.words.texts.get(word)[end..].chars().next()
    }
}

/// The words of places in their order, each once.
fn distinct(places: &[Place]) -> impl Iterator<Item = usize> {
    let mut last = None;
    places.iter().filter_map(move |&(word, _)| (last.replace(word) != Some(word)).then_some(word))
}

fn count_words(places: &[Place]) -> usize {
    distinct(places).count()
}

/// The sets of the common beginnings of one and two characters.
pub(super) fn prepare_beginnings(words: &Inverted, profiles: usize) -> Prepared {
    let mut prepared = Prepared::new();
    let mut start = 0;
    for chars in 1..=2 {
        while start < words.texts.len() {
            let text = words.texts.get(start);
            let Some(end) = text.char_indices().nth(chars - 1).map(|(at, c)| at + c.len_utf8()) else {
                start += 1;
                continue;
            };
            let range = start..words.texts.beginning_with(&text[..end]).end;
            let weight: u64 = range.clone().map(|word| cost(words.ranks(word), profiles)).sum();
            if weight > DEAR_WHEN_SHORT {
                let set = unite(words, range.clone(), profiles);
                prepared.insert(text[..end].into(), Arc::new(set));
            }
            start = range.end;
        }
        start = 0;
    }
    prepared
}
