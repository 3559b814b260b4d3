//! Entity tags of the headers that make a request conditional (RFC 9110 section 13.1).

use http::{HeaderMap, HeaderName};

/// The tags that a header names.
#[derive(Debug, PartialEq, Eq)]
pub enum EntityTags<'a> {
    /// `*`: whatever exists.
    Any,
    /// Tags as they were sent.
    Listed(Vec<&'a str>),
}

impl<'a> EntityTags<'a> {
    /// Reads all lines of a header; `None` without the header.
    #[must_use]
    pub fn of(headers: &'a HeaderMap, name: &HeaderName) -> Option<Self> {
        if !headers.contains_key(name) {
            return None;
        }
        let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
        let tags: Vec<_> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
        Some(if tags == ["*"] { Self::Any } else { Self::Listed(tags) })
    }

    /// True if `tag`, which is strong, is among them by the weak comparison of `If-None-Match`.
    #[must_use]
    pub fn have_weakly(&self, tag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(tags) => tags.iter().any(|known| known.strip_prefix("W/").unwrap_or(known) == tag),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::IF_NONE_MATCH;

    use super::*;

    #[test]
    fn lists_weak_tags_and_the_star_are_read() {
        for (lines, has) in [
            (&["\"a\""][..], true),
            (&["W/\"a\""], true),
            (&["\"b\" ,\tW/\"a\""], true),
            (&["\"b\"", "\"a\""], true),
            (&["*"], true),
            (&["\"b\""], false),
            (&["w/\"a\""], false),
            (&["a"], false),
            (&["*, \"b\""], false),
            (&[""], false),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(IF_NONE_MATCH, HeaderValue::from_static(line));
            }
            let tags = EntityTags::of(&headers, &IF_NONE_MATCH);
            assert_eq!(tags.map(|tags| tags.have_weakly("\"a\"")), Some(has), "{lines:?}");
        }
        assert_eq!(EntityTags::of(&HeaderMap::new(), &IF_NONE_MATCH), None);
    }
}
