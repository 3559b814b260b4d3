//! `/api/auth/account`: the signed-in user's own account, for the app's settings page, its language, and its deletion.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};
use latchkey_domain::email::Email;
use latchkey_domain::email_change::{EmailChange, EmailChangeId};
use latchkey_domain::locale::Locale;
use latchkey_domain::time::Timestamp;
use latchkey_service::Service;
use latchkey_service::factors::Account;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::UserBody;
use super::email::change::{proven, words};
use super::factors::TotpBody;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::caller::{FreshUser, SignedInUser};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::{fields, headers, parameters};

pub mod export;

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
    /// The number of passkeys, including those of a former domain.
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
    #[schema(schema_with = fields::own_locale, required)]
    locale: Option<String>,
}

/// A change of one's own account.
#[derive(Deserialize, ToSchema)]
#[schema(as = UpdateAccountRequest)]
pub struct ChangeAccountRequest {
    #[schema(schema_with = fields::sent::<Locale>)]
    locale: Locale,
}

/// A change of the email address that is not completed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EmailChange)]
pub struct EmailChangeBody {
    /// Id for `confirmEmailChange`. Only the session that began the change gets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::shown::<EmailChangeId>)]
    change_id: Option<EmailChangeId>,
    #[schema(schema_with = fields::shown::<Email>)]
    new_email: String,
    #[schema(schema_with = proven)]
    proven: Vec<&'static str>,
    #[schema(schema_with = fields::email_change_expiry)]
    expires_at: Timestamp,
}

const PATH: &str = "/api/auth/account";

pub const GET: Endpoint = Endpoint::get(PATH, |method| on(method, get))
    .named("getAccount", "Read one's own account")
    .about("The factors of the account, the level and time of the access token's sign-in, and until when calls that need a recent one accept it.")
    .access(Access::User)
    .responds::<AccountBody>("The account.");

pub async fn get(State(app): State<App>, headers: HeaderMap) -> Result<Json<AccountBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let account = app.service.factors.account(bearer.as_ref().map(BearerToken::expose)).await?;
    Ok(Json(AccountBody::new(&app.service, account)))
}

pub const CHANGE: Endpoint = Endpoint::patch(PATH, |method| on(method, change))
    .named("updateAccount", "Change the language of one's mails")
    .about("A language that the service does not have falls back: `de-AT` to `de`, others to the default.")
    .access(Access::User)
    .body::<ChangeAccountRequest>(|| json!({ "locale": "de-AT" }))
    .responds::<AccountBody>("The account.");

pub async fn change(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ChangeAccountRequest>,
) -> Result<Json<AccountBody>> {
    app.service.accounts.set_locale(caller, &body.locale).await?;
    get(State(app), headers).await
}

/// The response to the deletion of one's account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountInDeletion)]
pub struct InDeletionBody {
    #[schema(schema_with = fields::moment_of_deletion)]
    deletes_at: Timestamp,
}

pub const DELETE: Endpoint = Endpoint::delete(PATH, |method| on(method, delete))
    .named("deleteAccount", "Delete one's own account")
    .about(
        "Needs a fresh access token. All sessions end, and nobody sees the profile any more; address and username stay \
         taken. Until `deletesAt` the account can be restored: a sign-in is answered with a challenge of kind \
         `restore`. Then it is deleted for good.",
    )
    .access(Access::User)
    .parameters(&[parameters::client_type])
    .responds_with::<InDeletionBody>(StatusCode::OK, "The account is in deletion.", &[headers::SET_COOKIE])
    .errors(&[&codes::REAUTHENTICATION_REQUIRED, &codes::LAST_OWNER]);

pub async fn delete(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
) -> Result<Response> {
    let deletes_at = app.service.deletion.delete(&caller, &client.to_domain()).await?;
    let mut response = Json(InDeletionBody { deletes_at }).into_response();
    if client.client_type.is_web() {
        response.headers_mut().append(SET_COOKIE, app.refresh_cookie.clear().map_err(ApiError::internal)?);
    }
    Ok(response)
}

impl AccountBody {
    fn new(service: &Service, account: Account) -> Self {
        Self {
            has_password: account.user.has_password,
            two_step: account.user.has_two_step(),
            user: UserBody::new(service, &account.user),
            passkey_count: account.factors.passkeys.len(),
            totp: account.factors.totp.into_iter().map(TotpBody::from).collect(),
            recovery_codes_left: account.factors.recovery_codes_left,
            level: account.level.as_number(),
            auth_time: account.auth_time,
            fresh_until: account.fresh_until,
            email_change: account
                .email_change
                .as_ref()
                .map(|change| EmailChangeBody::new(change, account.own_change)),
            locale: account.locale.map(|locale| locale.as_str().to_owned()),
            reauthenticate_with: account.reauthenticate_with.iter().map(|kind| kind.as_str()).collect(),
        }
    }
}

impl EmailChangeBody {
    fn new(change: &EmailChange, change_id: Option<EmailChangeId>) -> Self {
        Self {
            change_id,
            new_email: change.new_email.as_typed().to_owned(),
            proven: words(&change.proven()),
            expires_at: change.expires_at,
        }
    }
}
