//! The marks of the built-in identity providers: our own drawings, each as the data of one SVG path.
//!
//! All are of one colour, on a grid of 24 by 24 units with a margin of 2, and filled by the even-odd rule: a shape inside
//! another one is a hole. Edges lie on whole units where they can, because the pages show a mark at 24 pixels.

/// Key of each provider with its mark, in alphabetical order.
const MARKS: &[(&str, &str)] = &[
    (
        "apple",
        "M12 7.4c1 0 2.2-1.1 4-1.1a5 5 0 0 1 4.2 2.2 4 4 0 0 0 .5 6.8C19.8 18 17.8 21.9 15.5 21.9c-1.4 0-1.9-.8-3.5-.8s-2.1.8-3.5.8C5.7 21.9 3.1 16.7 3.1 13 3.1 8.8 5.6 6.3 8.2 6.3c1.7 0 2.8 1.1 3.8 1.1zM11.9 6.2a4.2 4.2 0 0 1 4-4.2 4.2 4.2 0 0 1-4 4.2z",
    ),
    (
        "bitbucket",
        "M3.5 3.8h17a1.3 1.3 0 0 1 1.3 1.5l-2.1 13.6a1.3 1.3 0 0 1-1.3 1.1H5.6a1.3 1.3 0 0 1-1.3-1.1L2.2 5.3a1.3 1.3 0 0 1 1.3-1.5zM9 9l1 6h4l1-6z",
    ),
    (
        "discord",
        "M5.2 5.4Q7 4.5 9.1 4.2l.8 1.6a15 15 0 0 1 4.2 0l.8-1.6q2.1.3 3.9 1.2Q22.6 11 22 17.6q-2.3 1.7-4.9 2.3l-1.2-2a12 12 0 0 1-7.8 0l-1.2 2Q4.3 19.3 2 17.6 1.4 11 5.2 5.4zM8.6 10.5a1.9 2.1 0 1 0 .01 0zM15.4 10.5a1.9 2.1 0 1 0 .01 0z",
    ),
    (
        "facebook",
        "M13.8 21.8A10 10 0 1 0 10.2 21.8V15H7.7V12h2.5V9.5A3.9 3.9 0 0 1 14.1 5.6h2.3v3H14.9a1.1 1.1 0 0 0-1.1 1.1V12h2.7L16 15H13.8z",
    ),
    (
        "figma",
        "M11 2H8a3 3 0 0 0 0 6h3zM12 2h3a3 3 0 0 1 0 6h-3zM11 9H8a3 3 0 0 0 0 6h3zM15 9a3 3 0 1 0 .01 0zM11 16H8a3 3 0 1 0 3 3z",
    ),
    (
        "github",
        "M9.4 21.7A10 10 0 1 1 14.6 21.7V18.4c0-1-.3-1.7-.8-2.2 2.8-.3 4.6-1.8 4.6-4.9 0-1.2-.4-2.2-1.1-3 .3-.9.2-1.9-.1-2.8-1.1 0-2.2.6-3 1.2a10 10 0 0 0-4.4 0c-.8-.6-1.9-1.2-3-1.2-.3.9-.4 1.9-.1 2.8-.7.8-1.1 1.8-1.1 3 0 3.1 1.8 4.6 4.6 4.9-.4.4-.7.9-.8 1.6-1.4.3-2-.3-2.7-1.4-.5-.7-1.2-1-2-.8 1 .5 1.3 1.4 1.7 2.3.6 1.2 1.6 1.7 3 1.4z",
    ),
    (
        "gitlab",
        "M5.9 2.9 8.6 9.5h6.8l2.7-6.6a.6.6 0 0 1 1.1 0L22 12.3a1 1 0 0 1-.3 1.1L12 21.5 2.3 13.4a1 1 0 0 1-.3-1.1L4.8 2.9a.6.6 0 0 1 1.1 0z",
    ),
    ("google", "M19.1 4.9A10 10 0 1 0 21.8 10H12v4h5.7a6 6 0 1 1-1.4-6.2z"),
    (
        "instagram",
        "M8 2h8a6 6 0 0 1 6 6v8a6 6 0 0 1-6 6H8a6 6 0 0 1-6-6V8a6 6 0 0 1 6-6zM8 4A4 4 0 0 0 4 8v8a4 4 0 0 0 4 4h8a4 4 0 0 0 4-4V8a4 4 0 0 0-4-4zM12 7.1a4.9 4.9 0 1 1-.01 0zM12 9.2a2.8 2.8 0 1 0 .01 0zM17.1 5.6a1.3 1.3 0 1 1-.01 0z",
    ),
    (
        "linkedin",
        "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM7.3 5.8a1.5 1.5 0 1 0 .01 0zM6 10v8h2.6v-8zM10.4 10v8H13v-4.2a1.3 1.3 0 0 1 2.6 0V18h2.6v-4.7A3.2 3.2 0 0 0 13 11v-1z",
    ),
    ("microsoft", "M3 3h8v8H3zM13 3h8v8h-8zM3 13h8v8H3zM13 13h8v8h-8z"),
    (
        "notion",
        "M3 4 16.5 2.7 21 5.8V20.2L6.8 21.5 3 17.2zM6.5 7.4V19.3L19 18.2V6.3zM8.6 9 11.5 8.7 14.9 13.7V8.4L17 8.2V16.6L14.4 16.9 10.7 11.5V17.2L8.6 17.4z",
    ),
    (
        "slack",
        "M4 7h5a2 2 0 0 1 0 4H4a2 2 0 0 1 0-4zM11 6H9a2 2 0 1 1 2-2zM17 4v5a2 2 0 0 1-4 0V4a2 2 0 0 1 4 0zM18 11V9a2 2 0 1 1 2 2zM20 17h-5a2 2 0 0 1 0-4h5a2 2 0 0 1 0 4zM13 18h2a2 2 0 1 1-2 2zM7 20v-5a2 2 0 0 1 4 0v5a2 2 0 0 1-4 0zM6 13v2a2 2 0 1 1-2-2z",
    ),
    (
        "spotify",
        "M12 2a10 10 0 1 1-.01 0zM5.8 7.9A17 17 0 0 1 18.8 9.3A1 1 0 0 1 17.8 11.1A15 15 0 0 0 6.4 9.9A1 1 0 0 1 5.8 7.9zM6.5 11.5A14.8 14.8 0 0 1 17.2 12.6A.8 .8 0 0 1 16.4 14.2A13.2 13.2 0 0 0 6.9 13.1A.8 .8 0 0 1 6.5 11.5zM7.1 14.8A12.7 12.7 0 0 1 15.8 15.8A.7 .7 0 0 1 15.2 17A11.3 11.3 0 0 0 7.5 16.2A.7 .7 0 0 1 7.1 14.8z",
    ),
    (
        "tiktok",
        "M12.4 2h3.5a5 5 0 0 0 4.6 4.6v3.5a8.6 8.6 0 0 1-4.6-1.5v6.9a6.5 6.5 0 1 1-7.4-6.4v3.6a3 3 0 1 0 3.9 2.8z",
    ),
    (
        "twitch",
        "M6.4 2H21v11.4l-6 6h-3.4L9 22H7v-2.6H3V5.4zM8 4v11.6h3V18l2.4-2.4H16l3-3V4zM11 7h2v5h-2zM15 7h2v5h-2z",
    ),
    (
        "x",
        "M2 3h7l4.3 6 5.3-6h2.6l-6.7 7.6L22 21h-7l-4.3-6L5.4 21H2.8l6.7-7.6zM5.7 4.6 16.3 19.4h2.1L7.8 4.6z",
    ),
    (
        "zoom",
        "M8 3h8a5 5 0 0 1 5 5v8a5 5 0 0 1-5 5H8a5 5 0 0 1-5-5V8a5 5 0 0 1 5-5zM5.5 8v6a2 2 0 0 0 2 2H14V10a2 2 0 0 0-2-2zM15 11v2l3.5 2.6V8.4z",
    ),
];

/// Returns the mark of a provider; `None` for a provider that has none, such as a custom one.
pub(crate) fn mark(key: &str) -> Option<&'static str> {
    MARKS.iter().find(|(known, _)| *known == key).map(|(_, mark)| *mark)
}

#[cfg(test)]
mod tests {
    use super::{MARKS, mark};

    /// Most bytes of a mark. A page with all of them stays below its 24 KiB.
    const MOST: usize = 450;

    #[test]
    fn marks_are_short_paths() {
        for (key, mark) in MARKS {
            assert!(mark.len() <= MOST, "{key}: {} bytes", mark.len());
            assert!(mark.starts_with('M') && mark.ends_with('z'), "{key}: {mark}");
            let is_path = |c: char| c.is_ascii_digit() || "MmLlHhVvCcSsQqTtAaZz .-".contains(c);
            assert!(mark.chars().all(is_path), "{key}: {mark}");
        }
    }

    #[test]
    fn keys_are_in_order_and_no_two_marks_are_the_same() {
        assert!(MARKS.is_sorted_by(|(one, _), (next, _)| one < next));
        for (key, drawn) in MARKS {
            assert_eq!(MARKS.iter().filter(|(_, other)| other == drawn).count(), 1, "{key}");
        }
    }

    #[test]
    fn only_an_exact_key_has_a_mark() {
        assert!(mark("github").is_some());
        for key in ["", "GitHub", "github2", "acme", "custom"] {
            assert_eq!(mark(key), None, "{key}");
        }
    }
}
