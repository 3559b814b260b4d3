//! Check of rendered pages and of templates for forms without a token against cross-site request forgery.

use crate::html::{Tag, tags};
use crate::source::{self, TOKEN, VALUE};

/// Name of the hidden field.
const FIELD: &str = "form_token";

/// A form with `method="post"`, or with a button that sends it so.
#[derive(Default)]
pub(crate) struct PostForm {
    /// Position of its start tag.
    at: usize,
    /// Where it is sent: its own address, and those of its buttons.
    actions: Vec<String>,
    /// Values of its hidden fields with the name of the token.
    tokens: Vec<String>,
}

impl PostForm {
    /// True if the form has one token, which is right for each address.
    pub(crate) fn is_good(&self, is_right: impl Fn(&str, &str) -> bool) -> bool {
        let [token] = self.tokens.as_slice() else { return false };
        self.actions.iter().all(|action| is_right(action, token))
    }
}

/// Returns the line of the first form in a template's source that does not write a token itself.
pub(crate) fn line(source: &str) -> Option<usize> {
    let html = source::as_html(source);
    let writes = |action: &str, token: &str| {
        action.contains([TOKEN, VALUE]) && !token.is_empty() && token.chars().all(|c| c == TOKEN)
    };
    let form = post_forms(&html).into_iter().find(|form| !form.is_good(writes))?;
    Some(source::line(source, form.at))
}

/// A form while its page is read.
struct Draft {
    id: Option<String>,
    is_post: bool,
    form: PostForm,
}

/// The form that a control belongs to.
enum Owner {
    Around(usize),
    Named(String),
}

/// Returns the forms of a page that act.
pub(crate) fn post_forms(html: &str) -> Vec<PostForm> {
    let (mut drafts, mut controls) = (Vec::<Draft>::new(), Vec::new());
    // The form around, and those around an element whose contents are apart.
    let (mut form, mut outer) = (None, Vec::new());
    for tag in tags(html) {
        match (tag.name.as_str(), tag.is_end) {
            // A form in another one ends it here: HTML knows no such forms.
            ("form", false) => {
                form = Some(drafts.len());
                drafts.push(draft(&tag));
            }
            ("form", true) => form = None,
            // A browser with script does not read `noscript`, one without reads it.
            ("template" | "noscript", false) => outer.push(form.take()),
            ("template" | "noscript", true) => form = outer.pop().unwrap_or(form),
            ("input" | "button", false) => {
                let owner = match tag.get("form") {
                    Some(id) => Some(Owner::Named(id.into_owned())),
                    None => form.map(Owner::Around),
                };
                controls.extend(owner.map(|owner| (owner, tag)));
            }
            _ => {}
        }
    }
    for (owner, tag) in controls {
        let draft = match owner {
            Owner::Around(index) => drafts.get_mut(index),
            Owner::Named(id) => drafts.iter_mut().find(|draft| draft.id.as_ref() == Some(&id)),
        };
        if let Some(draft) = draft {
            add(draft, &tag);
        }
    }
    drafts.into_iter().filter(|draft| draft.is_post).map(|draft| draft.form).collect()
}

fn draft(tag: &Tag<'_>) -> Draft {
    let is_post = is(tag, "method", "post");
    let actions = vec![tag.get("action").unwrap_or_default().into_owned()];
    let form = PostForm { at: tag.at, actions, ..PostForm::default() };
    Draft { id: tag.get("id").map(Into::into), is_post, form }
}

/// Adds a field or button to its form.
fn add(draft: &mut Draft, tag: &Tag<'_>) {
    draft.is_post |= is(tag, "formmethod", "post");
    draft.form.actions.extend(tag.get("formaction").map(Into::into));
    let is_sent = is(tag, "type", "hidden") && tag.get("disabled").is_none();
    if is_sent && tag.name == "input" && tag.get("name").is_some_and(|name| name == FIELD) {
        draft.form.tokens.push(tag.get("value").unwrap_or_default().into_owned());
    }
}

fn is(tag: &Tag<'_>, attribute: &str, value: &str) -> bool {
    tag.get(attribute).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
}
