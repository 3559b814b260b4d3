//! People with sample texts, for the states of pages.

/// Sample texts of the kinds that users, providers and apps write.
#[derive(Debug, Clone)]
pub struct Person {
    pub name: String,
    pub username: String,
    pub email: String,
    /// Email address in its masked form (`a•••@example.org`), for pages that others may see.
    pub masked: String,
    pub bio: String,
    pub avatar_url: String,
    /// Name of a session, of a passkey or of an authenticator app.
    pub thing: String,
    pub browser: String,
    pub system: String,
    /// Host of an app.
    pub app: String,
    pub providers: Vec<String>,
}

impl Person {
    /// Returns a person with short texts.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            name: "Ada Lovelace".to_owned(),
            username: "ada".to_owned(),
            email: "ada@example.org".to_owned(),
            masked: "a•••@example.org".to_owned(),
            bio: "First programmer.\nPoetical science.".to_owned(),
            avatar_url: "https://example.org/ada.png".to_owned(),
            thing: "Phone of Ada".to_owned(),
            browser: "Firefox".to_owned(),
            system: "Linux".to_owned(),
            app: "app.example.org".to_owned(),
            providers: vec!["Google".to_owned(), "GitHub".to_owned()],
        }
    }

    /// Returns a person whose texts have the maximum length and no place for a line break.
    #[must_use]
    pub fn long() -> Self {
        Self {
            name: "Wolfeschlegelsteinhausenbergerdorff".repeat(3).chars().take(100).collect(),
            username: "x".repeat(30),
            email: format!("{}@{}.example.org", "very-long-local-part".repeat(3), "subdomain".repeat(6)),
            masked: format!("v•••@{}.example.org", "subdomain".repeat(6)),
            bio: "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft "
                .repeat(12),
            avatar_url: format!("https://example.org/{}.png", "picture".repeat(40)),
            thing: "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüsselbund!".to_owned(),
            browser: "Samsung Internet".to_owned(),
            system: "ChromeOS".to_owned(),
            app: format!("{}.example.org", "application".repeat(5)),
            providers: [
                "Company-wide single sign-on of the Example Corporation",
                "Google",
                "GitHub",
                "Apple",
                "Microsoft",
            ]
            .map(str::to_owned)
            .to_vec(),
        }
    }

    /// Returns a person whose texts run from right to left.
    #[must_use]
    pub fn right_to_left() -> Self {
        Self {
            name: "محمد بن موسى الخوارزمي".to_owned(),
            username: "الخوارزمي".to_owned(),
            email: "מוסא@example.org".to_owned(),
            bio: "عالم رياضيات وفلك (780–850).".to_owned(),
            thing: "הטלפון שלי (2)".to_owned(),
            providers: vec!["دليل الشركة".to_owned(), "Google".to_owned()],
            ..Self::plain()
        }
    }

    /// Returns a person all of whose texts are this one, such as an attempt at an attack.
    #[must_use]
    pub fn hostile(text: &str) -> Self {
        let text = text.to_owned();
        Self {
            name: text.clone(),
            username: text.clone(),
            email: text.clone(),
            masked: text.clone(),
            bio: text.clone(),
            avatar_url: text.clone(),
            thing: text.clone(),
            browser: text.clone(),
            system: text.clone(),
            app: text.clone(),
            providers: vec![text.clone(), text],
        }
    }
}
