//! Check of rendered pages and of templates for forms without a token against cross-site request
//! forgery.

/// True if a form with `method="post"` in a page has no field `form_token`.
pub(crate) fn is_missing(html: &str) -> bool {
    forms(html).any(|(_, form)| !form.contains("name=\"form_token\""))
}

/// Returns the line of the first form in a template's source that does not write a token itself.
pub(crate) fn line(source: &str) -> Option<usize> {
    let (at, _) = forms(source).find(|(_, form)| !form.contains("form_token"))?;
    Some(source[..at].matches('\n').count() + 1)
}

/// Returns position and text of each form with `method="post"`, up to its end or to the next form.
fn forms(html: &str) -> impl Iterator<Item = (usize, &str)> {
    html.match_indices("<form").filter_map(|(at, found)| {
        let end = html[at + found.len()..].split("</form").next()?.split("<form").next()?.len();
        let form = &html[at..at + found.len() + end];
        let head = &form[..form.find('>').unwrap_or(form.len())];
        head.to_ascii_lowercase().contains("method=\"post\"").then_some((at, form))
    })
}
