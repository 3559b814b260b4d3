//! Host and path patterns with wildcards, and their comparison with parts of a parsed URL.

/// Pattern of a host. Labels may be wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostPattern {
    Exact(String),
    Labels(Vec<Piece>),
}

/// Pattern of a path. Segments may be wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathPattern {
    Exact(String),
    Segments { pieces: Vec<Piece>, has_open_end: bool },
}

/// Pattern of a host label or path segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Exact(String),
    /// `*`: any label or non-empty segment.
    Any,
}

/// Fault of a pattern, see [`super::EntryFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternFault {
    PartialHostWildcard,
    WideHost,
    PartialPathWildcard,
}

/// Maximum number of percent-encoding layers that are decoded. A segment with more is refused.
const MAX_ENCODINGS: usize = 3;

impl HostPattern {
    pub(super) fn parse(host: &str) -> Result<Self, PatternFault> {
        if !host.contains('*') {
            return Ok(Self::Exact(host.to_owned()));
        }
        if host.split('.').all(|label| matches!(label, "*" | "**")) {
            return Err(PatternFault::WideHost);
        }

        let labels = pieces(host.split('.')).ok_or(PatternFault::PartialHostWildcard)?;
        if is_too_wide(&labels) {
            return Err(PatternFault::WideHost);
        }
        Ok(Self::Labels(labels))
    }

    pub(super) fn matches(&self, host: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == host,
            Self::Labels(labels) => {
                let sent: Vec<&str> = host.split('.').collect();
                labels.len() == sent.len()
                    && labels.iter().zip(sent).all(|(piece, label)| piece.matches(label, is_plain_label))
            }
        }
    }

    pub(super) const fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    /// Returns the labels after the last wildcard, joined by dots.
    pub(super) fn wildcard_parent(&self) -> Option<String> {
        let Self::Labels(labels) = self else { return None };
        let concrete = labels.rsplit(|label| *label == Piece::Any).next()?;
        let texts = concrete.iter().filter_map(|label| match label {
            Piece::Exact(text) => Some(text.as_str()),
            Piece::Any => None,
        });
        Some(texts.collect::<Vec<_>>().join("."))
    }
}

impl PathPattern {
    pub(super) fn parse(path: &str) -> Result<Self, PatternFault> {
        if !path.contains('*') {
            return Ok(Self::Exact(path.to_owned()));
        }
        let closed = path.strip_suffix("/**");
        let pieces = pieces(segments(closed.unwrap_or(path))).ok_or(PatternFault::PartialPathWildcard)?;
        Ok(Self::Segments { pieces, has_open_end: closed.is_some() })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let (pieces, has_open_end) = match self {
            Self::Exact(exact) => return exact == path,
            Self::Segments { pieces, has_open_end } => (pieces, *has_open_end),
        };
        let mut sent = segments(path);
        let is_front_right = pieces
            .iter()
            .all(|piece| sent.next().is_some_and(|segment| piece.matches(segment, is_plain_segment)));
        // The slash is required: `/app/**` does not match `/app`.
        let is_rest_right = match sent.next() {
            None => !has_open_end,
            Some(first) => has_open_end && is_safe_segment(first) && sent.all(is_safe_segment),
        };
        is_front_right && is_rest_right
    }

    pub(super) const fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }
}

impl Piece {
    fn matches(&self, text: &str, is_allowed: fn(&str) -> bool) -> bool {
        match self {
            Self::Exact(exact) => exact == text,
            Self::Any => is_allowed(text),
        }
    }
}

/// Parses labels or segments; `None` if a `*` is only part of one.
fn pieces<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Vec<Piece>> {
    texts
        .map(|text| match text {
            "*" => Some(Piece::Any),
            _ if text.contains('*') => None,
            _ => Some(Piece::Exact(text.to_owned())),
        })
        .collect()
}

/// Returns the segments of a path: the text after each slash. An empty path has no segment.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').skip(1)
}

/// True unless the host ends in `localhost` or in two labels without wildcards. This refuses `*.com` and `app.*`.
/// Public suffixes such as `*.co.uk` are not detected here, but a warning at start reports them.
fn is_too_wide(labels: &[Piece]) -> bool {
    let is_concrete = |piece: &Piece| matches!(piece, Piece::Exact(label) if !label.is_empty());
    let ends_in_localhost = matches!(labels.last(), Some(Piece::Exact(label)) if label == "localhost");
    let concrete_end = labels.iter().rev().take_while(|&piece| is_concrete(piece)).count();

    concrete_end < 2 && !ends_in_localhost
}

fn is_plain_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn is_plain_segment(segment: &str) -> bool {
    !segment.is_empty() && is_safe_segment(segment)
}

/// True if a segment has no slash, backslash, control character or dot segment, even after repeated decoding.
fn is_safe_segment(segment: &str) -> bool {
    let mut text = segment.as_bytes().to_vec();
    for _ in 0..=MAX_ENCODINGS {
        if text == b"."
            || text == b".."
            || text.iter().any(|&b| matches!(b, b'/' | b'\\') || b.is_ascii_control())
        {
            return false;
        }
        let decoded = decode_percent(&text);
        if decoded == text {
            return true;
        }
        text = decoded;
    }
    false
}

/// Decodes every `%XX` once. Other `%` characters are unchanged.
fn decode_percent(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let escaped =
            if first == b'%' { after.first_chunk::<2>().and_then(|digits| hex_byte(*digits)) } else { None };
        if escaped.is_some() {
            rest = &after[2..];
        }
        decoded.push(escaped.unwrap_or(first));
    }
    decoded
}

fn hex_byte([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}
