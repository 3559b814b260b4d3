//! `GET /api/auth/account`: the signed-in user's own account, for the app's settings page.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::email::Email;
use latchkey_domain::email_change::EmailChange;
use latchkey_domain::time::Timestamp;
use latchkey_service::factors::Account;
use serde::Serialize;
use utoipa::ToSchema;

use super::UserBody;
use super::email::change::{proven, words};
use super::factors::TotpBody;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::json::Json;
use crate::openapi::fields;

/// The signed-in user's account, with its second factors and the time and level of the sign-in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Account)]
pub struct AccountBody {
    user: UserBody,
    /// True if the account has a password.
    has_password: bool,
    /// True if two-step sign-in is on.
    two_step: bool,
    /// The confirmed authenticator apps, oldest first.
    totp: Vec<TotpBody>,
    /// The number of passkeys, those of another domain than the one in force included.
    #[schema(schema_with = fields::count)]
    passkey_count: usize,
    #[schema(schema_with = fields::count)]
    recovery_codes_left: u32,
    #[schema(schema_with = fields::level)]
    level: u8,
    #[schema(schema_with = fields::moment_authenticated)]
    auth_time: Timestamp,
    #[schema(schema_with = fields::fresh_until, required)]
    fresh_until: Option<Timestamp>,
    #[schema(schema_with = fields::reauthenticate_with)]
    reauthenticate_with: Vec<&'static str>,
    /// The change of the email address that is not completed; `null` if there is none.
    email_change: Option<EmailChangeBody>,
}

/// A change of the email address that is not completed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EmailChange)]
pub struct EmailChangeBody {
    #[schema(schema_with = fields::shown::<Email>)]
    new_email: String,
    #[schema(schema_with = proven)]
    proven: Vec<&'static str>,
    #[schema(schema_with = fields::email_change_expiry)]
    expires_at: Timestamp,
}

pub const GET: Endpoint = Endpoint::get("/api/auth/account", |method| on(method, get))
    .named("getAccount", "Read one's own account")
    .about("The factors of the account, the level and time of the access token's sign-in, and until when calls that need a recent one accept it.")
    .access(Access::User)
    .responds::<AccountBody>("The account.");

pub async fn get(State(app): State<App>, headers: HeaderMap) -> Result<Json<AccountBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let account = app.service.factors.account(bearer.as_ref().map(BearerToken::expose)).await?;
    Ok(Json(AccountBody::new(&app, account)))
}

impl AccountBody {
    fn new(app: &App, account: Account) -> Self {
        Self {
            has_password: account.user.has_password,
            two_step: account.user.has_two_step(),
            user: UserBody::new(app, &account.user),
            passkey_count: account.factors.passkeys.len(),
            totp: account.factors.totp.into_iter().map(TotpBody::from).collect(),
            recovery_codes_left: account.factors.recovery_codes_left,
            level: account.level.as_number(),
            auth_time: account.auth_time,
            fresh_until: account.fresh_until,
            email_change: account.email_change.map(EmailChangeBody::from),
            reauthenticate_with: account.reauthenticate_with.iter().map(|kind| kind.as_str()).collect(),
        }
    }
}

impl From<EmailChange> for EmailChangeBody {
    fn from(change: EmailChange) -> Self {
        Self {
            new_email: change.new_email.as_typed().to_owned(),
            proven: words(&change.proven()),
            expires_at: change.expires_at,
        }
    }
}
