//! Numbers of things in the output for people.

use std::fmt::Display;

/// Returns a number with its noun, which gets an `s` unless the number is 1.
pub(super) fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let texts = [0, 1, 2, 11].map(|number| count(number, "import"));
        assert_eq!(texts, ["0 imports", "1 import", "2 imports", "11 imports"]);
    }
}
