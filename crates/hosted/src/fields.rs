//! Fields of a form, parsed into domain types. All refusals of one form are collected, so that they are shown together.

use latchkey_domain::codes::{EnteredCode, SixDigitCode};
use latchkey_domain::email::Email;
use latchkey_domain::factors::FactorName;

use latchkey_domain::password::Password;
use latchkey_domain::profile::Name;
use latchkey_domain::reason::Reason;
use latchkey_domain::text::{InvalidText, LONGEST_OWN_NAME};
use latchkey_http::endpoints::auth::passkeys::credential;
use latchkey_http::error::ApiError;
use latchkey_http::query::Query;
use latchkey_pages::{Fault, Problem};
use latchkey_service::passkeys::{Assertion, Registration};
use serde_json::{Map, Value};

use crate::ceremony;
use crate::errors::PageError;
use crate::problem::{Refused, Rejection, fault_of};

/// The fields of a form.
pub(crate) struct Fields {
    form: Query,
    problems: Vec<Problem>,
}

impl Fields {
    pub(crate) fn new(form: Query) -> Self {
        Self { form, problems: Vec::new() }
    }

    /// Returns the text of a field, as it was typed; empty without the field.
    pub(crate) fn text(&self, name: &str) -> Result<String, PageError> {
        Ok(self.form.optional(name)?.unwrap_or_default())
    }

    /// Returns all fields as they were sent.
    pub(crate) fn all(&self) -> Result<Vec<(String, String)>, PageError> {
        Ok(self.form.all()?)
    }

    /// Reads a code that a use case parses; spaces in it are dropped.
    pub(crate) fn code_text(&mut self, name: &'static str) -> Result<Option<String>, PageError> {
        self.parse(name, |text| Ok(without_spaces(text)))
    }

    /// True if a box is ticked.
    pub(crate) fn is_ticked(&self, name: &str) -> Result<bool, PageError> {
        Ok(self.form.optional(name)?.is_some())
    }

    /// True if a field was refused.
    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Asks for a field again whose text was not kept.
    pub(crate) fn lack(&mut self, name: &'static str) {
        self.refuse(name, Fault::Required);
    }

    /// Reads an email address; spaces around it are dropped.
    pub(crate) fn email(&mut self, name: &'static str) -> Result<Option<Email>, PageError> {
        self.parse(name, |text| Email::parse(text.trim()).map_err(|error| fault_of(name, error.reason())))
    }

    /// Reads a password, as it was typed.
    pub(crate) fn password(&mut self, name: &'static str) -> Result<Option<Password>, PageError> {
        self.parse(name, |text| Ok(Password::new(text.to_owned())))
    }

    /// Reads a mailed code; spaces in it are dropped.
    pub(crate) fn code(&mut self, name: &'static str) -> Result<Option<EnteredCode>, PageError> {
        self.parse(name, |text| EnteredCode::parse(&without_spaces(text)).map_err(|_| Fault::InvalidCode))
    }

    /// Reads the code of an authenticator app; spaces in it are dropped.
    pub(crate) fn totp(&mut self, name: &'static str) -> Result<Option<SixDigitCode>, PageError> {
        self.parse(name, |text| SixDigitCode::parse(&without_spaces(text)).map_err(|_| Fault::InvalidCode))
    }

    /// Reads a name, which may be left empty.
    pub(crate) fn name(&mut self, name: &'static str) -> Result<Option<Name>, PageError> {
        self.optional(name, |text| Name::parse(text).map_err(InvalidText::reason))
    }

    /// Reads the name of a second factor.
    pub(crate) fn factor_name(&mut self, name: &'static str) -> Result<Option<FactorName>, PageError> {
        self.parse(name, |text| {
            FactorName::parse(text).map_err(|error| match error.reason() {
                Reason::TooLong => Fault::TooLong { most: LONGEST_OWN_NAME as u64 },
                reason => fault_of(name, reason),
            })
        })
    }

    /// Reads a text that may be left empty; line breaks are single characters.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Reason>,
    ) -> Result<Option<T>, PageError> {
        if self.text(name)?.trim().is_empty() {
            return Ok(None);
        }
        self.parse(name, |text| parse(&text.replace("\r\n", "\n")).map_err(|reason| fault_of(name, reason)))
    }

    /// Reads what a passkey answered to request options. A script filled the field in, so a malformed one is no fault of
    /// the person and is told at the form as a whole.
    pub(crate) fn assertion(&mut self) -> Result<Option<Assertion>, PageError> {
        self.credential(credential::assertion)
    }

    /// Reads what a new passkey answered to creation options, like [`Self::assertion`].
    pub(crate) fn registration(&mut self) -> Result<Option<Registration>, PageError> {
        self.credential(credential::registration)
    }

    fn credential<T>(
        &mut self,
        read: impl FnOnce(Map<String, Value>) -> Result<T, ApiError>,
    ) -> Result<Option<T>, PageError> {
        let json = serde_json::from_str(&self.text(ceremony::CREDENTIAL)?).ok();
        let credential = json.and_then(|json| read(json).ok());
        if credential.is_none() {
            self.problems.push(Problem::whole(Fault::InvalidPasskey));
        }
        Ok(credential)
    }

    /// Returns the rejection of a form in which a field was refused. Call it after all fields are read.
    pub(crate) fn rejection(&mut self) -> Rejection {
        Rejection::Form(Box::new(Refused::of_fields(std::mem::take(&mut self.problems))))
    }

    fn parse<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Fault>,
    ) -> Result<Option<T>, PageError> {
        let text = self.text(name)?;
        let parsed = if text.is_empty() { Err(Fault::Required) } else { parse(&text) };
        Ok(parsed.map_err(|fault| self.refuse(name, fault)).ok())
    }

    fn refuse(&mut self, name: &'static str, fault: Fault) {
        let problem = Problem::at(name, fault);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
