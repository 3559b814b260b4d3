//! `/api/auth/email/change`: begins or cancels a change of one's own email address.

use axum::extract::State;
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::email::Email;
use latchkey_domain::email_change::{EmailChangeId, Side};
use latchkey_domain::locale::Locale;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, Type};

use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{FreshUser, SignedInUser};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;

pub mod confirm;

const PATH: &str = "/api/auth/email/change";

/// Request body of the operation `changeEmail`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEmailRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    new_email: Email,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

/// A change of address that was begun. It is the same for free and taken addresses.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BegunEmailChange)]
pub struct BegunBody {
    #[schema(schema_with = fields::success)]
    success: bool,
    #[schema(schema_with = fields::message)]
    message: &'static str,
    #[schema(schema_with = fields::shown::<EmailChangeId>)]
    change_id: EmailChangeId,
    #[schema(schema_with = fields::email_change_expiry)]
    expires_at: Timestamp,
    #[schema(schema_with = needs)]
    needs: Vec<&'static str>,
}

pub const BEGIN: Endpoint = Endpoint::post(PATH, |method| on(method, begin))
    .named("changeEmail", "Begin to change one's email address")
    .about(
        "Needs a fresh access token. Mails a code to each address in `needs`; nothing changes before `confirmEmailChange`. \
         Free and taken addresses are answered alike; the owner of a taken one is told. A new change replaces the \
         one before.",
    )
    .access(Access::User)
    .body::<ChangeEmailRequest>(|| json!({ "newEmail": "ada@example.com" }))
    .responds_with::<BegunBody>(StatusCode::ACCEPTED, "Accepted; codes are mailed.", &[])
    .errors(&[
        &codes::EMAIL_PROVIDER_NOT_CONFIGURED,
        &codes::REAUTHENTICATION_REQUIRED,
        &codes::TOO_MANY_REQUESTS,
    ]);

pub async fn begin(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    JsonBody(body): JsonBody<ChangeEmailRequest>,
) -> Result<(StatusCode, Json<BegunBody>)> {
    let client = client.in_locale(body.locale).to_domain();
    let begun = app.service.email_changes.begin(&caller, body.new_email, &client).await?;
    let body = BegunBody {
        success: true,
        message: "Codes are on their way. Enter them to change the address.",
        change_id: begun.id,
        expires_at: begun.expires_at,
        needs: words(&begun.needs),
    };
    Ok((StatusCode::ACCEPTED, Json(body)))
}

pub const CANCEL: Endpoint = Endpoint::delete(PATH, |method| on(method, cancel))
    .named("cancelEmailChange", "Cancel the change of one's email address")
    .about("Its codes are dead. Without a change nothing happens.")
    .access(Access::User)
    .responds::<MessageBody>("There is no change any more.");

pub async fn cancel(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
) -> Result<Json<MessageBody>> {
    app.service.email_changes.cancel(caller, &client.to_domain()).await?;
    Ok(Json(MessageBody { message: "The change of the email address was cancelled." }))
}

/// Converts the two addresses of a change of email address into their names in responses: `new`, `current`.
pub(in super::super) fn words(sides: &[Side]) -> Vec<&'static str> {
    sides.iter().map(|side| side.as_str()).collect()
}

/// Builds the schema of the list of addresses whose mailed code was not entered yet.
fn needs() -> ArrayBuilder {
    sides("The addresses that are still to be proven by the codes mailed to them.")
}

/// Builds the schema of the list of addresses whose mailed code was entered.
pub(in super::super) fn proven() -> ArrayBuilder {
    sides("The addresses that are proven.")
}

fn sides(description: &str) -> ArrayBuilder {
    let words: Vec<_> = Side::ALL.iter().map(|side| side.as_str()).collect();
    ArrayBuilder::new()
        .items(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)))
        .description(Some(description))
        .examples([json!(["new", "current"])])
}
