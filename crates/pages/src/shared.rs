//! What all environments of templates share: files, languages, and the name of the service.

use crate::assets::Assets;
use crate::frame::Site;
use crate::languages::Languages;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) site: Site,
    pub(crate) assets: Assets,
    pub(crate) languages: Languages,
    /// What stands before the digest in the address of a file: `/assets`, or a relative path in a preview.
    pub(crate) root: String,
}

impl Shared {
    /// Returns the address of a file.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("{}/{}/{name}", self.root, self.assets.digest())
    }
}
