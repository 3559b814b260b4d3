//! Writes every page in every state as static HTML: `preview OUT [LANGUAGE] [PERSON] [ROOT]`. PERSON selects the sample
//! texts: `plain`, `long`, `right-to-left`, or any other text, which replaces all of them. ROOT is the URL of the
//! folder with the files that pages load.

use std::path::Path;
use std::process::ExitCode;

use latchkey_pages::{Address, Languages, Links, Person, Preview, Site, Theme, write_preview};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &'static str| arguments.get(index).map_or(default, String::as_str);
    let person = match argument(2, "plain") {
        "plain" => Person::plain(),
        "long" => Person::long(),
        "right-to-left" => Person::right_to_left(),
        text => Person::hostile(text),
    };
    let site = Site {
        name: "Example".to_owned(),
        links: Links {
            terms: Address::parse("https://example.org/terms"),
            privacy: Address::parse("https://example.org/privacy"),
            support: Address::parse("mailto:help@example.org"),
        },
    };
    let preview = Preview {
        site,
        theme: &Theme::default(),
        languages: Languages::built_in().with_pseudo(),
        language: argument(1, "en"),
        templates: None,
        person: &person,
        root: argument(3, "assets"),
    };
    match write_preview(preview, Path::new(argument(0, "preview"))) {
        Ok(names) => {
            println!("{} pages", names.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
