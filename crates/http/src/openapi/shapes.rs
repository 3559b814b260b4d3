//! Schemas that cannot be derived from one struct: objects with free keys, alternatives, HTML pages.

use latchkey_domain::ids::UserId;
use latchkey_domain::profile::{AvatarUrl, Bio, Name, Username};
use serde_json::json;
use utoipa::openapi::schema::{AdditionalProperties, AnyOfBuilder, OneOfBuilder};
use utoipa::openapi::{ArrayBuilder, Object, ObjectBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::fields;
use crate::endpoint::NamedSchema;
use crate::endpoints::auth::SessionBody;
use crate::endpoints::auth::factors::{FactorBody, TwoStepOnBody};
use crate::endpoints::auth::passkeys::{ChangedBody, EnrolledBody};
use crate::endpoints::auth::users::{
    CreateUserRequest, CreatedUserBody, SignUpRequest, VerificationRequiredBody,
};
use crate::endpoints::profiles::PublicProfileBody;

/// A profile in its flat form: fixed and custom fields are keys of the same object.
pub(crate) struct FlatProfile;

pub(crate) struct ProfileChange;

/// The request of setProfile. The fields are at the top level, or nested under `profile`.
pub(crate) struct SetProfileRequest;

/// The response of the profile search: an array of public profiles.
pub(crate) struct PublicProfiles;

/// The request of `POST /api/auth/users`: a sign-up, or an admin's new user.
pub(crate) struct NewUserRequest;

/// The response of `POST /api/auth/users`: to a sign-up, or to an admin.
pub(crate) struct NewUserAnswer;

/// The response to the first right code of an authenticator app: the new session if the app turned two-step sign-in on,
/// the app alone if it was on before.
pub(crate) struct ConfirmedTotp;

/// The response to a registration of a passkey, which a session or a sign-in's challenge permits.
pub(crate) struct PasskeyRegistered;

/// A JSON Web Key Set (RFC 7517): the public keys of access tokens.
pub(crate) struct JwkSet;

pub(crate) struct OpenApiDocument;

/// Builds the schema of an HTML page.
pub(super) fn html_page() -> Object {
    ObjectBuilder::new().schema_type(Type::String).description(Some("A small HTML page for people.")).build()
}

/// Builds the schema of a form with any field names.
pub(super) fn form_of_texts() -> Object {
    let text = ObjectBuilder::new().schema_type(Type::String);
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::from(text)))
        .build()
}

impl PartialSchema for FlatProfile {
    fn schema() -> RefOr<Schema> {
        let nested = shown_fields(ObjectBuilder::new())
            .description(Some("The same fields but `id`, for older clients."))
            .build();
        shown_fields(ObjectBuilder::new().property("id", fields::shown::<UserId>()).required("id"))
            .description(Some(
                "A profile with the user's id and all custom fields at the top level; never `metadata`.",
            ))
            .property("profile", nested)
            .required("profile")
            .into()
    }
}

impl ToSchema for FlatProfile {}

impl PartialSchema for ProfileChange {
    fn schema() -> RefOr<Schema> {
        new_fields(ObjectBuilder::new())
            .description(Some(
                "Fields to change. Every other key is a custom field, public, with any value; `null` deletes it. Custom \
                 fields are at most 16 KiB of JSON together. `id`, `auth_id`, `profile`, `createdAt`, `updatedAt`, \
                 `created_at`, `updated_at` and `metadata` are read-only and ignored.",
            ))
            .into()
    }
}

impl ToSchema for ProfileChange {}

impl PartialSchema for SetProfileRequest {
    fn schema() -> RefOr<Schema> {
        let change = || Ref::from_schema_name(ProfileChange::name());
        let nested = ObjectBuilder::new().property("profile", change()).required("profile");
        let flat = new_fields(ObjectBuilder::new().property("profile", change())).min_properties(Some(1));
        AnyOfBuilder::new()
            .description(Some(
                "The fields to change, under `profile` or at the top level; with `profile`, keys beside it are ignored.",
            ))
            .item(nested.description(Some("Under `profile`.")))
            .item(flat.description(Some("At the top level, at least one.")))
            .into()
    }
}

impl ToSchema for SetProfileRequest {
    fn schemas(schemas: &mut Vec<NamedSchema>) {
        add::<ProfileChange>(schemas);
    }
}

impl PartialSchema for PublicProfiles {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .description(Some("Profiles that match, the best first."))
            .items(Ref::from_schema_name(PublicProfileBody::name()))
            .max_items(Some(100))
            .into()
    }
}

impl ToSchema for PublicProfiles {
    fn schemas(schemas: &mut Vec<NamedSchema>) {
        add::<PublicProfileBody>(schemas);
    }
}

/// Implements the schemas of alternatives: `AnyOfBuilder` where one of them contains another, else `OneOfBuilder`.
macro_rules! alternatives {
    ($($builder:ident $name:ident [$($shape:ty),+] $about:literal;)+) => {$(
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let builder = $builder::new().description(Some($about));
                builder$(.item(Ref::from_schema_name(<$shape>::name())))+.into()
            }
        }

        impl ToSchema for $name {
            fn schemas(schemas: &mut Vec<NamedSchema>) {
                $(add::<$shape>(schemas);)+
            }
        }
    )+};
}

alternatives! {
    AnyOfBuilder NewUserRequest [SignUpRequest, CreateUserRequest]
        "A sign-up; with an admin key, an admin's creation of a user.";
    OneOfBuilder NewUserAnswer [SessionBody, VerificationRequiredBody, CreatedUserBody]
        "Sign-up while verification is off: a session. Sign-up while it is required: no session yet, the same for a free \
         and a taken address. With an admin key: the user.";
    AnyOfBuilder ConfirmedTotp [TwoStepOnBody, FactorBody]
        "The new session with the recovery codes, if two-step sign-in was off; else the app alone.";
    AnyOfBuilder PasskeyRegistered [EnrolledBody, ChangedBody]
        "The new session with the passkey and the recovery codes, if a challenge enrols; else the passkey alone.";
}

impl PartialSchema for JwkSet {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let key = ObjectBuilder::new()
            .description(Some("A public key: on P-256 with `x` and `y`, on Ed25519 with `x` alone."))
            .property("kty", text().enum_values(Some(["EC", "OKP"])))
            .property("crv", text().enum_values(Some(["P-256", "Ed25519"])))
            .property("alg", text().enum_values(Some(["ES256", "EdDSA"])))
            .property("use", text().enum_values(Some(["sig"])))
            .property(
                "kid",
                text().description(Some("The `kid` in the header of the tokens that it verifies.")),
            )
            .property("x", text())
            .property("y", text());
        let key = ["kty", "crv", "alg", "use", "kid", "x"].into_iter().fold(key, ObjectBuilder::required);
        ObjectBuilder::new()
            .description(Some(
                "The keys that verify access tokens: the current one, and earlier ones while tokens live.",
            ))
            .property("keys", ArrayBuilder::new().items(key))
            .required("keys")
            .into()
    }
}

impl ToSchema for JwkSet {}

impl PartialSchema for OpenApiDocument {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .description(Some("An OpenAPI 3.1 document."))
            .property("openapi", ObjectBuilder::new().schema_type(Type::String).examples(["3.1.0"]))
            .required("openapi")
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .into()
    }
}

impl ToSchema for OpenApiDocument {}

/// Adds the fields of [`FlatProfile`] that only responses have.
fn shown_fields(object: ObjectBuilder) -> ObjectBuilder {
    let object = object
        .property("name", fields::shown::<Name>())
        .property("username", fields::shown::<Username>())
        .property("avatar_url", fields::shown_or_null::<AvatarUrl>())
        .property("bio", fields::shown_or_null::<Bio>())
        .property("createdAt", fields::moment_created())
        .property("updatedAt", fields::moment_updated())
        .additional_properties(Some(AdditionalProperties::FreeForm(true)));
    ["name", "avatar_url", "bio", "createdAt", "updatedAt"].into_iter().fold(object, ObjectBuilder::required)
}

/// Adds the fixed fields of [`FlatProfile`] that requests may change.
fn new_fields(object: ObjectBuilder) -> ObjectBuilder {
    object
        .property("name", fields::sent::<Name>())
        .property("username", fields::removable::<Username>())
        .property("avatar_url", fields::removable::<AvatarUrl>())
        .property("bio", fields::removable::<Bio>())
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .examples([json!({ "bio": "First programmer.", "favourite_colour": "green" })])
}

fn add<T: ToSchema>(schemas: &mut Vec<NamedSchema>) {
    T::schemas(schemas);
    schemas.push((T::name().into_owned(), T::schema()));
}
