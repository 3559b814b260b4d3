//! Pages of all states, and a reader of their tags.

use latchkey_pages::{Address, Languages, Links, Pages, Person, Site, Theme, all_states};

/// A rendered state.
pub(crate) struct Shown {
    pub(crate) name: &'static str,
    pub(crate) html: String,
}

pub(crate) fn site() -> Site {
    let links = Links {
        terms: Address::parse("https://example.org/terms"),
        privacy: Address::parse("https://example.org/privacy"),
        support: Address::parse("mailto:help@example.org"),
    };
    Site { name: "Example".to_owned(), links }
}

pub(crate) fn pages() -> Pages {
    Pages::new(site(), &Theme::default(), Languages::built_in().with_pseudo()).unwrap()
}

/// Renders all states of a person in a language.
pub(crate) fn shown(pages: &Pages, language: &str, person: &Person) -> Vec<Shown> {
    let language = pages.languages().choose([language]);
    let show = |state: &latchkey_pages::State| {
        pages
            .render(language, &state.frame, state.view.as_ref())
            .unwrap_or_else(|e| panic!("{}: {e}", state.name))
    };
    all_states(person).iter().map(|state| Shown { name: state.name, html: show(state) }).collect()
}

/// A start or end tag. Attributes are in their order, with unescaped quotes only.
#[derive(Debug, Clone)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

/// Reads the tags of a page. Quoted values end at their quote; anything else that HTML allows is not used by our pages
/// and fails.
pub(crate) fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '>').unwrap();
        let name = rest[..end].to_ascii_lowercase();
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest.find(|c: char| c.is_whitespace() || c == '=' || c == '>').unwrap();
            let key = rest[..end].to_ascii_lowercase();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(after) = rest.strip_prefix('=') {
                let inner = after.strip_prefix('"').unwrap_or_else(|| panic!("{key} without quotes"));
                let end = inner.find('"').unwrap();
                inner[..end].clone_into(&mut value);
                rest = &inner[end + 1..];
            }
            attributes.push((key, value));
        }
        tags.push(Tag { name, attributes });
    }
    tags
}
