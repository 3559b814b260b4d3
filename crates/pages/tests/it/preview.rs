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

#[test]
fn unknown_language_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (person, theme) = (Person::plain(), Theme::default());
    let preview = |language| Preview {
        site: site(),
        theme: &theme,
        languages: Languages::built_in().with_pseudo(),
        language,
        templates: None,
        person: &person,
        root: "assets",
    };

    for unknown in ["xx", "", "deutsch", "xx-DE"] {
        let refused =
            write_preview(preview(unknown), &folder.path().join("unknown")).unwrap_err().to_string();
        assert!(refused.contains(&format!("`{unknown}`")) && refused.contains("de, en"), "{refused}");
    }
    assert!(!folder.path().join("unknown").exists());
    for known in ["qps", "de-AT", "PT"] {
        assert!(write_preview(preview(known), folder.path()).is_ok(), "{known}");
    }
}
