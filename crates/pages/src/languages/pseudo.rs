//! The pseudo-language for tests: English with accents, about a third longer, and written from right to left. A text
//! without accents on such a page is missing in the files of languages.

use super::PSEUDO;
use super::catalogue::{Catalogue, Piece, Text, pieces};

pub(super) const NAME: &str = "⟦Þšéûðö⟧";

/// Makes the pseudo-language from the English texts.
pub(super) fn of(english: &Catalogue) -> Catalogue {
    let lengthened = |(key, text): (&String, &Text)| {
        let mut text = text.clone();
        text.forms_mut().into_iter().for_each(|form| *form = accented(form));
        (key.clone(), text)
    };
    Catalogue {
        name: NAME.to_owned(),
        tag: PSEUDO.to_owned(),
        is_right_to_left: true,
        months: english.months.iter().map(|month| accented(month)).collect(),
        group: english.group.clone(),
        texts: english.texts.iter().map(lengthened).collect(),
    }
}

fn accented(text: &str) -> String {
    let mut result = String::from("⟦");
    for piece in pieces(text) {
        match piece {
            Piece::Literal(literal) => result.extend(literal.chars().map(accent)),
            Piece::Placeholder(name) => {
                result.push('{');
                result.push_str(name);
                result.push('}');
            }
        }
    }
    result.extend(" extra".chars().map(accent).cycle().take(text.chars().count() / 3));
    result.push('⟧');
    result
}

fn accent(letter: char) -> char {
    const PLAIN: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const ACCENTED: &str = "åƀçðéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýžÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽ";
    PLAIN
        .chars()
        .zip(ACCENTED.chars())
        .find(|(plain, _)| *plain == letter)
        .map_or(letter, |(_, accented)| accented)
}
