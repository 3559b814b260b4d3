//! Data that the template environments of all languages share: files, languages, and the name of the
//! service.

use crate::assets::Assets;
use crate::frame::Site;
use crate::languages::Languages;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) site: Site,
    pub(crate) assets: Assets,
    pub(crate) languages: Languages,
    /// Text with which the URLs of files begin, before the digest: `/assets`, or a relative path in
    /// a preview.
    pub(crate) root: String,
}

impl Shared {
    /// Returns the URL of a file.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("{}/{}/{name}", self.root, self.assets.digest())
    }
}
