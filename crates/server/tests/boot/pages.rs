//! Tests of the hosted pages that need the binary: their files at the start, `config check`, and the preview.

use std::collections::BTreeSet;
use std::fs;

use latchkey_hosted::page_routes;

use crate::binary::{Binary, names_in};

#[tokio::test]
async fn development_shows_pages_and_production_does_not() {
    let running = Binary::new().serve().await;
    assert!(running.anon().get("/").send().await.hosted(200).contains("is running"));
    running.anon().get("/auth/no-such-page").send().await.hosted(404);

    let off = Binary::new().set("pages.enabled=false").set("console.enabled=false").serve().await;
    for path in ["/auth/no-such-page", "/console/no-such-page"].into_iter().chain(paths()) {
        for method in ["GET", "POST"] {
            off.anon().request(method, path).send().await.refused(404, "NOT_FOUND");
        }
    }
}

/// Paths of all pages, of the console, and of their files; parameters stand in their braces.
fn paths() -> BTreeSet<&'static str> {
    page_routes().map(|(path, _)| path).collect()
}

#[tokio::test]
async fn broken_template_language_or_picture_is_refused_with_its_key() {
    for (key, name, text, words) in [
        (
            "pages.templates_dir",
            "folder/start.html",
            "<p>\n{{ view.nothing }}",
            &["start.html", "line 2"][..],
        ),
        ("pages.templates_dir", "folder/unknown.html", "", &["no page template has this name"]),
        ("pages.locales_dir", "folder/pl.toml", "name = \"Polski\"", &["pl.toml"]),
        ("pages.theme.logo_file", "folder", "no picture", &["neither SVG nor PNG"]),
    ] {
        let binary = Binary::new().set(&format!("{key}=folder"));
        let path = binary.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();

        let checked = binary.run(&["config", "check"]).await;

        assert_eq!(checked.code, Some(1), "{checked:#?}");
        for word in [&[key], words].concat() {
            assert!(checked.out.contains(word), "{word:?} is missing in {checked:#?}");
        }
        binary.run(&[]).await.refused(&[key]);
    }
}

#[tokio::test]
async fn unreadable_colour_is_replaced_and_told() {
    let binary = Binary::new().set("pages.theme.accent=#ffee00");

    let checked = binary.run(&["config", "check"]).await;

    let good = checked.good();
    assert!(good.contains("- warning: pages.theme.accent: #ffee00 has a contrast of"), "{good}");
}

#[tokio::test]
async fn preview_writes_every_page_and_needs_no_secret() {
    let binary = Binary::bare().set("server.mode=production").set("server.service_name=Acme Accounts");

    let output = binary.run(&["pages", "preview", "--out", "preview", "--locale", "de"]).await;

    assert!(output.good().contains("pages written"), "{output:#?}");
    let names = names_in(&binary.path("preview"));
    assert!(names.len() > 100 && names.contains(&"index.html".to_owned()), "{names:?}");
    let page = fs::read_to_string(binary.path("preview/sign_in.wrong.html")).unwrap();
    assert!(page.contains("lang=\"de\"") && page.contains("Acme Accounts"), "{page}");
}
