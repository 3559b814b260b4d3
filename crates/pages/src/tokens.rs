//! Check of rendered pages and templates for forms without a token.

/// True if a form with `method="post"` in a page has no field `form_token`.
pub(crate) fn is_missing(html: &str) -> bool {
    forms(html).any(|(_, form)| !form.contains("name=\"form_token\""))
}

/// Returns the line of the first form in the source of a template that writes no token itself.
pub(crate) fn line(source: &str) -> Option<usize> {
    let (at, _) = forms(source).find(|(_, form)| !form.contains("form_token"))?;
    Some(source[..at].matches('\n').count() + 1)
}

/// Returns place and text of the forms that act, up to their ends.
fn forms(html: &str) -> impl Iterator<Item = (usize, &str)> {
    html.match_indices("<form").filter_map(|(at, _)| {
        let rest = &html[at..];
        let form = &rest[..rest.find("</form").unwrap_or(rest.len())];
        let head = &form[..form.find('>').unwrap_or(form.len())];
        head.to_ascii_lowercase().contains("method=\"post\"").then_some((at, form))
    })
}
