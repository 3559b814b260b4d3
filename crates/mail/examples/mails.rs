//! Writes every mail in every language as a reader gets it: `mails FOLDER` makes `FOLDER/LANGUAGE/MAIL.CASE.html` and
//! `.txt`, whose first line is the subject. The cases differ in the optional parts and in the length of the values.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use latchkey_domain::device::Device;
use latchkey_domain::locale::Locale;
use latchkey_domain::time::Timestamp;
use latchkey_mail::{MailContext, SecurityEvent, Template, Templates, UndoLink};

fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "mails".to_owned()));
    match write_mails(&folder) {
        Ok(count) => {
            println!("{count} mails in {}", folder.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write_mails(folder: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let templates = Templates::embedded()?;
    let mut count = 0;
    for locale in templates.locales() {
        let folder = folder.join(locale.as_str());
        std::fs::create_dir_all(&folder)?;
        for template in Template::ALL {
            for (case, context) in cases() {
                write_mail(
                    &templates,
                    *template,
                    locale,
                    &context,
                    &folder.join(format!("{}.{case}", template.name())),
                )?;
                count += 1;
            }
        }
    }
    Ok(count)
}

fn write_mail(
    templates: &Templates,
    template: Template,
    locale: &Locale,
    context: &MailContext,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let mail = templates.render(template, &[locale], context)?;
    std::fs::write(format!("{}.html", path.display()), mail.html)?;
    std::fs::write(format!("{}.txt", path.display()), format!("{}\n\n{}", mail.subject, mail.text))?;
    Ok(())
}

fn cases() -> [(&'static str, MailContext); 3] {
    let usual = usual();
    let long = MailContext {
        service_name: "Kundenportal der Stadtwerke Nord-Ost".to_owned(),
        recipient_name: Some("María del Carmen Fernández-Villaverde y Ortiz de Zárate".to_owned()),
        code: Some("7k3m-9p2x-qf4t-8h6w".to_owned()),
        expires_in_minutes: 1440,
        entered: true,
        takes_over: true,
        event: SecurityEvent {
            device: Some(Device { browser: Some("Samsung Internet"), system: Some("Android") }),
            address: Some("2001:db8:85a3:8d3:1319:8a2e:370:7348".to_owned()),
            codes_left: Some(0),
            ..usual.event.clone()
        },
        ..usual.clone()
    };
    let bare = MailContext {
        recipient_name: None,
        contested: true,
        link: usual.link.clone(),
        event: SecurityEvent {
            device: None,
            address: None,
            provider: None,
            undo: None,
            codes_left: Some(1),
            ..usual.event.clone()
        },
        ..usual.clone()
    };
    [("usual", usual), ("long", long), ("bare", bare)]
}

fn usual() -> MailContext {
    let token = "4f1c09b7d2e85a6340f7c1d9b3e6a82054f1c09b7d2e85a6340f7c1d9b3e6a82";
    let link = |path: &str| format!("https://accounts.example.org/api/auth/{path}?token={token}");
    MailContext {
        service_name: "Latchkey".to_owned(),
        public_url: "https://accounts.example.org".to_owned(),
        recipient_name: Some("Ada Lovelace".to_owned()),
        code: Some("482915".to_owned()),
        link: Some(link("email/verify-link")),
        expires_in_minutes: 10,
        contested: false,
        entered: false,
        takes_over: false,
        event: SecurityEvent {
            at: Timestamp::from_millis(1_772_445_840_000),
            device: Some(Device { browser: Some("Firefox"), system: Some("Linux") }),
            address: Some("203.0.113.7".to_owned()),
            provider: Some("Google".to_owned()),
            undo: Some(UndoLink { link: link("undo"), until: Timestamp::from_millis(1_772_705_040_000) }),
            codes_left: Some(9),
        },
    }
}
