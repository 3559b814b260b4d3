//! Schemas of the parameters of paths, query strings and headers, with the bounds that the extractors enforce.

use latchkey_domain::audit::{ActorKind, AuditKind};
use latchkey_domain::ids::SessionId;
use latchkey_domain::passkey::PasskeyId;
use latchkey_domain::shape::Shaped;
use latchkey_domain::user_list::{UserSort, UserState};
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{KnownFormat, ObjectBuilder, Required, SchemaFormat, Type};

use super::fields;

/// Describes the path parameter `{userId}` of a profile.
pub(crate) fn profile_user_id() -> Parameter {
    let description = "The id of the user (`auth_id` of the profile), not that of the profile.";
    built(path("userId", description), uuid())
}

/// Describes the path parameter `{id}`: the id of a user, of a session and so on.
pub(crate) fn id<T: Shaped>() -> Parameter {
    built(path("id", T::SENT.about), fields::sent::<T>().description(None::<String>))
}

/// Describes the query parameter `client_type`. Unknown values count as `web`, so any string is valid.
pub(crate) fn client_type() -> Parameter {
    let description = "What kind of client calls: `web`, `mobile`, `desktop` or `server`; anything else counts as \
        `web`. `web` gets the refresh token in an `HttpOnly` cookie and a `csrfToken` in the body; the others get \
        `refreshToken` in the body, and neither of the two.";
    let schema = string().default(Some(json!("web"))).examples(["web", "mobile", "desktop", "server"]);
    built(query("client_type", description), schema)
}

pub(crate) fn search_text() -> Parameter {
    let description = "The words to search for in names, usernames and bios. A profile matches when it has every \
        word somewhere; words of one or two characters only match at the start of a word. All characters are plain.";
    let schema = string().min_length(Some(1)).max_length(Some(100)).pattern(Some("\\S"));
    required(query("q", description), schema.examples(["ada"]))
}

/// Describes the query parameter `limit` of a public list: values above 100 are reduced to 100.
pub(crate) fn limit() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).default(Some(json!(20)));
    built(query("limit", "Most items to return, in plain digits; above 100 it is taken as 100."), schema)
}

/// Describes the query parameter `limit` of an admin's list: values above 100 are refused.
pub(crate) fn admin_limit() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(100));
    built(query("limit", "Most items to return, in plain digits."), schema.default(Some(json!(20))))
}

/// Describes the query parameter `days` of the statistics.
pub(crate) fn days() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(90));
    let description = "Number of days whose events are counted, today included, in plain digits.";
    built(query("days", description), schema.default(Some(json!(30))))
}

pub(crate) fn offset() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).default(Some(json!(0)));
    built(query("offset", "How many items to skip, in plain digits."), schema)
}

pub(crate) fn cursor() -> Parameter {
    let description = "`nextCursor` of an earlier page, in place of `offset`: pages that stay apart while users come \
        and go.";
    built(query("cursor", description), string())
}

/// Describes the query parameter `cursor` of the list of mails.
pub(crate) fn mail_cursor() -> Parameter {
    built(query("cursor", "`nextCursor` of an earlier page."), string())
}

/// Describes the query parameter `state` of the list of mails.
pub(crate) fn mail_state() -> Parameter {
    let schema = string().enum_values(Some(["queued", "sent", "dead"].map(Value::from)));
    built(query("state", "Only mails that wait (`queued`), that were sent, or that are dead."), schema)
}

/// Describes the query parameter `to` of the list of mails.
pub(crate) fn mail_to() -> Parameter {
    let schema = string().examples([json!("ada@example.org")]);
    built(query("to", "Only mails to this address; case does not count."), schema)
}

pub(crate) fn user_search() -> Parameter {
    let description = "A whole user id, a whole address, the beginning of one, or words of the name or username, as in the \
        search for profiles.";
    built(query("search", description), string().examples(["ada@"]))
}

/// Describes the query parameter `state` of the list of users.
pub(crate) fn user_state() -> Parameter {
    let names = UserState::ALL.iter().map(|state| state.as_str());
    let description = "Only users in this state. A banned user is `banned` and not `verified`; `operator`, \
        `no-profile` and `imported-hash` (the password has not been used since its import) go with every state.";
    built(query("state", description), string().enum_values(Some(names)))
}

/// Describes the query parameter `provider` of the list of users.
pub(crate) fn user_provider() -> Parameter {
    let schema = string().examples(["google"]);
    let description = "Only users with this in `providers`: the key of an identity provider, `email` (a password) or `passkey`.";
    built(query("provider", description), schema)
}

/// Describes the query parameter `createdAfter` of the list of users.
pub(crate) fn created_after() -> Parameter {
    let description = "Only users created at or after this time, in RFC 3339; a day begins in UTC.";
    built(query("createdAfter", description), moment())
}

/// Describes the query parameter `createdBefore` of the list of users.
pub(crate) fn created_before() -> Parameter {
    let description = "Only users created before this time, in RFC 3339; a day begins in UTC.";
    built(query("createdBefore", description), moment())
}

/// Describes the query parameter `signedInAfter` of the list of users.
pub(crate) fn signed_in_after() -> Parameter {
    let description =
        "Only users who last signed in at or after this time, in RFC 3339; a day begins in UTC.";
    built(query("signedInAfter", description), moment())
}

/// Describes the query parameter `signedInBefore` of the list of users.
pub(crate) fn signed_in_before() -> Parameter {
    let description =
        "Only users who last signed in before this time, in RFC 3339, or never; a day begins in UTC.";
    built(query("signedInBefore", description), moment())
}

/// Describes the query parameter `sort` of the list of users.
pub(crate) fn user_sort() -> Parameter {
    let names = UserSort::ALL.iter().map(|sort| sort.as_str());
    let description =
        "The newest first, the latest sign-in first (users who never signed in come last), or by address.";
    built(query("sort", description), string().enum_values(Some(names)).default(Some(json!("created"))))
}

pub(crate) fn before() -> Parameter {
    built(query("before", "`nextBefore` of an earlier page: only events before this one."), uuid())
}

/// Describes the query parameter `userId` of the audit log.
pub(crate) fn concerned_user() -> Parameter {
    built(query("userId", "Only events about this user."), uuid())
}

/// Describes the query parameter `event` of the audit log.
pub(crate) fn event_name() -> Parameter {
    let names = AuditKind::ALL.iter().map(|kind| kind.as_str());
    built(query("event", "Only events of this name."), string().enum_values(Some(names)))
}

/// Describes the query parameter `actor` of the audit log.
pub(crate) fn actor() -> Parameter {
    let names = ActorKind::ALL.iter().map(|actor| actor.as_str());
    built(query("actor", "Only events that this actor caused."), string().enum_values(Some(names)))
}

/// Describes the query parameter `operatorId` of the audit log.
pub(crate) fn acting_operator() -> Parameter {
    built(query("operatorId", "Only events that this operator caused."), uuid())
}

/// Describes the query parameter `ip` of the audit log.
pub(crate) fn event_ip() -> Parameter {
    built(query("ip", "Only events of this IP address."), string().examples(["192.0.2.7"]))
}

/// Describes the query parameter `since` of the export.
pub(crate) fn changed_since() -> Parameter {
    let about = "Only accounts created or changed at or after this time, in RFC 3339; a day begins in UTC.";
    built(query("since", about), moment())
}

/// Describes the query parameter `from` of the audit log.
pub(crate) fn event_from() -> Parameter {
    built(query("from", "Only events at or after this time, in RFC 3339; a day begins in UTC."), moment())
}

/// Describes the query parameter `to` of the audit log.
pub(crate) fn event_to() -> Parameter {
    built(query("to", "Only events before this time, in RFC 3339; a day begins in UTC."), moment())
}

/// Describes the query parameter `others` of the call that ends sessions.
pub(crate) fn others() -> Parameter {
    let schema = string().enum_values(Some([Value::from("true")]));
    required(query("others", "Says that all but the calling session shall end."), schema)
}

/// Describes the query parameter `passkeys` of the call that removes a user's second factors.
pub(crate) fn with_passkeys() -> Parameter {
    let schema = string().enum_values(Some(["true", "false"].map(Value::from))).default(Some(json!("false")));
    built(query("passkeys", "Says whether passkeys are removed too."), schema)
}

/// Describes the path parameter `{passkeyId}`.
pub(crate) fn passkey_id() -> Parameter {
    built(path("passkeyId", PasskeyId::SENT.about), fields::sent::<PasskeyId>().description(None::<String>))
}

/// Describes the path parameter `{sessionId}`.
pub(crate) fn session_id() -> Parameter {
    built(path("sessionId", SessionId::SENT.about), fields::sent::<SessionId>().description(None::<String>))
}

/// Describes the query parameter `details` of the list of one's own sessions.
pub(crate) fn details() -> Parameter {
    let schema = string().enum_values(Some(["true", "false"].map(Value::from))).default(Some(json!("false")));
    built(query("details", "Says whether name, device and sign-in of each session are wanted."), schema)
}

pub(crate) fn link_token() -> Parameter {
    let description = "The token of the mail: 64 hex digits. A missing or malformed one is an unknown one.";
    built(query("token", description), string())
}

/// Describes the path parameter `{provider}`: the key of an identity provider.
pub(crate) fn provider() -> Parameter {
    built(path("provider", "The key of the identity provider."), string().examples(["google"]))
}

/// Describes the path parameter `{key}`: the key of a custom identity provider.
pub(crate) fn provider_key() -> Parameter {
    built(path("key", "The key of the custom identity provider."), string().examples(["acme"]))
}

pub(crate) fn redirect_uri() -> Parameter {
    let description = "Where the browser goes in the end; must be on the list of allowed redirect URLs. Without it the \
        default redirect URL.";
    built(query("redirect_uri", description), string().examples(["https://app.example.org/welcome"]))
}

/// Describes the query parameter `code_challenge` (PKCE) of the start of a sign-in.
pub(crate) fn code_challenge() -> Parameter {
    required(query("code_challenge", CHALLENGE), challenge())
}

/// Describes the query parameter `code_challenge` (PKCE) when linking an identity. It is optional, because the body may
/// contain it.
pub(crate) fn link_code_challenge() -> Parameter {
    built(query("code_challenge", CHALLENGE), challenge())
}

/// Describes the query parameter `subject`, which selects one of several identities at a provider.
pub(crate) fn subject() -> Parameter {
    built(query("subject", "Which of several identities of the provider; all of them without it."), string())
}

/// Describes the parameter `state` of an OAuth callback.
pub(crate) fn returned_state() -> Parameter {
    built(query("state", "The state of the start."), string())
}

/// Describes the parameter `code` of an OAuth callback.
pub(crate) fn returned_code() -> Parameter {
    built(query("code", "The provider's code."), string())
}

/// Describes the parameter `error` of an OAuth callback.
pub(crate) fn returned_error() -> Parameter {
    built(query("error", "Why the provider gives no code (RFC 6749)."), string().examples(["access_denied"]))
}

/// Describes the parameter `iss` of an OAuth callback.
pub(crate) fn returned_issuer() -> Parameter {
    let description = "Who answers (RFC 9207). Another issuer than that of the provider is refused.";
    built(query("iss", description), string().examples(["https://id.acme.example"]))
}

/// Describes the parameter `user` of an OAuth callback from Apple.
pub(crate) fn returned_user() -> Parameter {
    built(query("user", "The name that Apple tells once, at the first sign-in: an object in JSON."), string())
}

pub(crate) fn csrf_token() -> Parameter {
    let description = "The `csrfToken` of the session. Needed with the refresh cookie, that is for clients of type \
        `web`; the call must also come from a known origin.";
    built(header("X-CSRF-Token", description), string())
}

pub(crate) fn if_match() -> Parameter {
    let description = "Entity tags of the versions that may be changed (RFC 9110), or `*`. A weak or unknown tag \
        matches nothing.";
    built(header("If-Match", description), string().examples(["\"v1\""]))
}

const CHALLENGE: &str = "The PKCE challenge by S256 (RFC 7636).";

fn challenge() -> ObjectBuilder {
    string().pattern(Some("^[A-Za-z0-9_-]{43}$")).examples(["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"])
}

fn path(name: &str, description: &str) -> ParameterBuilder {
    of(ParameterIn::Path, name, description)
}

/// Describes the query parameter `from` of an import.
pub(crate) fn import_format() -> Parameter {
    let schema = string().examples(["latchkey", "supabase", "csv"]);
    required(query("from", "Name of the format of the file."), schema)
}

/// Describes the query parameter `dryRun` of an import.
pub(crate) fn import_dry_run() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::Boolean).default(Some(json!(false)));
    built(query("dryRun", "`true`: read everything, and write nothing but the report."), schema)
}

/// Describes the query parameter `onConflict` of an import.
pub(crate) fn import_policy() -> Parameter {
    let schema = string().default(Some(json!("skip"))).enum_values(Some(["skip", "update", "fail"]));
    let description = "What becomes of a record whose address has an account: `skip` leaves it, `update` fills what the \
        account lacks, `fail` ends the import.";
    built(query("onConflict", description), schema)
}

/// Describes the query parameter `realm` of an import.
pub(crate) fn import_realm() -> Parameter {
    let description = "Realm to import of a Keycloak export that has several.";
    built(query("realm", description), string().examples(["prod"]))
}

fn query(name: &str, description: &str) -> ParameterBuilder {
    of(ParameterIn::Query, name, description)
}

fn header(name: &str, description: &str) -> ParameterBuilder {
    of(ParameterIn::Header, name, description)
}

fn of(place: ParameterIn, name: &str, description: &str) -> ParameterBuilder {
    let is_path = place == ParameterIn::Path; // path parameters are always required
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(if is_path { Required::True } else { Required::False })
        .description(Some(description))
}

fn built(parameter: ParameterBuilder, schema: ObjectBuilder) -> Parameter {
    parameter.schema(Some(schema)).build()
}

fn required(parameter: ParameterBuilder, schema: ObjectBuilder) -> Parameter {
    built(parameter.required(Required::True), schema)
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn moment() -> ObjectBuilder {
    string().examples(["2026-03-01", "2026-03-01T12:00:00Z"])
}

fn uuid() -> ObjectBuilder {
    string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
}
