//! The preview.

use std::collections::BTreeSet;
use std::fs;

use latchkey_pages::{Languages, Person, Preview, Theme, write_preview};

use crate::support::site;

#[test]
fn every_state_is_a_file_that_finds_its_assets() {
    let folder = tempfile::tempdir().unwrap();
    let person = Person::plain();
    let preview = Preview {
        site: site(),
        theme: &Theme::default(),
        languages: Languages::built_in(),
        language: "de",
        templates: None,
        person: &person,
        root: "assets",
    };
    let names = write_preview(preview, folder.path()).unwrap();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    let index = fs::read_to_string(folder.path().join("index.html")).unwrap();
    for name in names {
        assert!(index.contains(&format!("\"{name}.html\"")));
        let html = fs::read_to_string(folder.path().join(format!("{name}.html"))).unwrap();
        let sheet = html.split_once("rel=\"stylesheet\" href=\"").unwrap().1.split_once('"').unwrap().0;
        assert!(folder.path().join(sheet).is_file(), "{sheet}");
    }
}
