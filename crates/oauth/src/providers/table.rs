//! The provider table: built-in providers in alphabetical order. Endpoints and mappings follow the providers'
//! documentation.

use super::{
    Avatar, ClientAuth, EmailList, Entry, FieldMapping, Pkce, Protocol, Scopes, Source, Userinfo, Verified,
};

const NO_SCOPES: &[&str] = &[];
const OPENID: Scopes = Scopes { usual: &["openid", "email", "profile"], needed: &["openid"], separator: " " };

/// Field mapping of the standard claims (OpenID Connect Core 1.0 section 5.1).
const STANDARD: FieldMapping = FieldMapping {
    source: Source::IdToken,
    subject: &["/sub"],
    email: Some("/email"),
    verified: Verified::True("/email_verified"),
    name: &["/name"],
    avatar: Avatar::At("/picture"),
};

/// Default fields of OpenID Connect providers, which entries override.
const OPENID_CONNECT: Entry = Entry {
    key: "",
    name: "",
    protocol: openid("", None),
    client_id_field: "client_id",
    client_auth: ClientAuth::Post,
    pkce: Pkce::S256,
    scopes: OPENID,
    parameters: &[],
    hashes_nonces: false,
    mapping: STANDARD,
};

const fn openid(issuer: &'static str, authorize: Option<&'static str>) -> Protocol {
    Protocol::OpenId { issuer, authorize, aliases: &[], userinfo: Userinfo::WhereLacking }
}

const fn scopes(usual: &'static [&'static str], separator: &'static str) -> Scopes {
    Scopes { usual, needed: NO_SCOPES, separator }
}

/// Returns scopes that are always requested and that the operator cannot replace: without them the provider's
/// response lacks the identity or the email address.
const fn needed(scopes: &'static [&'static str], separator: &'static str) -> Scopes {
    Scopes { usual: scopes, needed: scopes, separator }
}

const fn profile(url: &'static str) -> Source {
    Source::Profile { url, headers: &[] }
}

/// The entry of all custom providers, which are configured by a discovery URL.
pub(crate) const CUSTOM: Entry =
    Entry { key: "custom", name: "OpenID Connect", client_auth: ClientAuth::Discovered, ..OPENID_CONNECT };

/// The built-in providers. The operator configures only client credentials.
pub const BUILT_IN: &[Entry] = &[
    // Apple: the client secret is signed with a key. The name comes only with the first consent, and scopes require
    // form_post. `email_verified` is documented as "a string or a Boolean".
    Entry {
        key: "apple",
        name: "Apple",
        protocol: Protocol::OpenId {
            issuer: "https://appleid.apple.com",
            authorize: Some("https://appleid.apple.com/auth/authorize"),
            aliases: &[],
            userinfo: Userinfo::Never,
        },
        client_auth: ClientAuth::AppleKey,
        pkce: Pkce::Unsupported,
        scopes: scopes(&["name", "email"], " "),
        parameters: &[("response_mode", "form_post")],
        hashes_nonces: true,
        mapping: FieldMapping {
            source: Source::IdTokenAndCallback,
            verified: Verified::TrueOrText("/email_verified"),
            avatar: Avatar::None,
            ..STANDARD
        },
        ..OPENID_CONNECT
    },
    Entry {
        key: "bitbucket",
        name: "Bitbucket",
        protocol: Protocol::OAuth {
            authorize: "https://bitbucket.org/site/oauth2/authorize",
            token: "https://bitbucket.org/site/oauth2/access_token",
        },
        client_auth: ClientAuth::Basic,
        pkce: Pkce::Unsupported,
        scopes: needed(&["account", "email"], " "),
        mapping: FieldMapping {
            source: profile("https://api.bitbucket.org/2.0/user"),
            subject: &["/uuid"],
            email: None,
            verified: Verified::Listed(EmailList {
                url: "https://api.bitbucket.org/2.0/user/emails",
                list: "/values",
                address: "email",
                primary: "is_primary",
                verified: "is_confirmed",
            }),
            name: &["/display_name", "/username"],
            avatar: Avatar::At("/links/avatar/href"),
        },
        ..OPENID_CONNECT
    },
    Entry {
        key: "discord",
        name: "Discord",
        protocol: Protocol::OAuth {
            authorize: "https://discord.com/oauth2/authorize",
            token: "https://discord.com/api/oauth2/token",
        },
        scopes: Scopes { needed: &["identify"], ..scopes(&["identify", "email"], " ") },
        mapping: FieldMapping {
            source: profile("https://discord.com/api/users/@me"),
            subject: &["/id"],
            email: Some("/email"),
            verified: Verified::True("/verified"),
            name: &["/global_name", "/username"],
            avatar: Avatar::Template("https://cdn.discordapp.com/avatars/{/id}/{/avatar}.png"),
        },
        ..OPENID_CONNECT
    },
    // Facebook does not document if an email address is verified.
    Entry {
        key: "facebook",
        name: "Facebook",
        protocol: Protocol::OAuth {
            authorize: "https://www.facebook.com/v23.0/dialog/oauth",
            token: "https://graph.facebook.com/v23.0/oauth/access_token",
        },
        pkce: Pkce::Unsupported,
        scopes: scopes(&["email", "public_profile"], ","),
        mapping: FieldMapping {
            source: profile("https://graph.facebook.com/v23.0/me?fields=id,name,email,picture.type(large)"),
            subject: &["/id"],
            email: Some("/email"),
            verified: Verified::Never,
            name: &["/name"],
            avatar: Avatar::At("/picture/data/url"),
        },
        ..OPENID_CONNECT
    },
    Entry {
        key: "figma",
        name: "Figma",
        protocol: Protocol::OAuth {
            authorize: "https://www.figma.com/oauth",
            token: "https://api.figma.com/v1/oauth/token",
        },
        client_auth: ClientAuth::Basic,
        scopes: needed(&["current_user:read"], " "),
        mapping: FieldMapping {
            source: profile("https://api.figma.com/v1/me"),
            subject: &["/id"],
            email: Some("/email"),
            verified: Verified::Never,
            name: &["/handle"],
            avatar: Avatar::At("/img_url"),
        },
        ..OPENID_CONNECT
    },
    // GitHub's profile has the public address, which users set freely. Only the list of addresses has verified flags.
    Entry {
        key: "github",
        name: "GitHub",
        protocol: Protocol::OAuth {
            authorize: "https://github.com/login/oauth/authorize",
            token: "https://github.com/login/oauth/access_token",
        },
        scopes: Scopes { needed: &["user:email"], ..scopes(&["read:user", "user:email"], " ") },
        mapping: FieldMapping {
            source: Source::Profile {
                url: "https://api.github.com/user",
                headers: &[("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")],
            },
            subject: &["/id"],
            email: None,
            verified: Verified::Listed(EmailList {
                url: "https://api.github.com/user/emails",
                list: "",
                address: "email",
                primary: "primary",
                verified: "verified",
            }),
            name: &["/name", "/login"],
            avatar: Avatar::At("/avatar_url"),
        },
        ..OPENID_CONNECT
    },
    Entry {
        key: "gitlab",
        name: "GitLab",
        protocol: openid("https://gitlab.com", Some("https://gitlab.com/oauth/authorize")),
        ..OPENID_CONNECT
    },
    // Google documents both spellings of the issuer for `iss`.
    Entry {
        key: "google",
        name: "Google",
        protocol: Protocol::OpenId {
            issuer: "https://accounts.google.com",
            authorize: Some("https://accounts.google.com/o/oauth2/v2/auth"),
            aliases: &["accounts.google.com"],
            userinfo: Userinfo::WhereLacking,
        },
        ..OPENID_CONNECT
    },
    // Instagram's business login gives no email address. The token response is wrapped in `data`.
    Entry {
        key: "instagram",
        name: "Instagram",
        protocol: Protocol::OAuth {
            authorize: "https://www.instagram.com/oauth/authorize",
            token: "https://api.instagram.com/oauth/access_token",
        },
        pkce: Pkce::Unsupported,
        scopes: needed(&["instagram_business_basic"], ","),
        mapping: FieldMapping {
            source: profile(
                "https://graph.instagram.com/v23.0/me?fields=user_id,username,name,profile_picture_url",
            ),
            subject: &["/user_id"],
            email: None,
            verified: Verified::Never,
            name: &["/name", "/username"],
            avatar: Avatar::At("/profile_picture_url"),
        },
        ..OPENID_CONNECT
    },
    // LinkedIn's `id_token` lacks the nonce, so userinfo is used, directly from the provider over TLS. A code verifier
    // beside a client secret is refused with `invalid_client`.
    Entry {
        key: "linkedin",
        name: "LinkedIn",
        protocol: Protocol::OAuth {
            authorize: "https://www.linkedin.com/oauth/v2/authorization",
            token: "https://www.linkedin.com/oauth/v2/accessToken",
        },
        pkce: Pkce::Unsupported,
        mapping: FieldMapping { source: profile("https://api.linkedin.com/v2/userinfo"), ..STANDARD },
        ..OPENID_CONNECT
    },
    // Microsoft: a tenant's administrator sets `email` freely. The optional claim `xms_edov` asserts that the owner of
    // the address's domain was verified. Users are unique by tenant and object id. Pictures require an access token.
    Entry {
        key: "microsoft",
        name: "Microsoft",
        protocol: Protocol::OpenId {
            issuer: "https://login.microsoftonline.com/{tenant}/v2.0",
            authorize: Some("https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize"),
            aliases: &[],
            userinfo: Userinfo::Never,
        },
        scopes: Scopes { needed: &["openid", "profile"], ..OPENID },
        mapping: FieldMapping {
            subject: &["/tid", "/oid"],
            verified: Verified::True("/xms_edov"),
            avatar: Avatar::None,
            ..STANDARD
        },
        ..OPENID_CONNECT
    },
    // Notion has the user in the token response.
    Entry {
        key: "notion",
        name: "Notion",
        protocol: Protocol::OAuth {
            authorize: "https://api.notion.com/v1/oauth/authorize",
            token: "https://api.notion.com/v1/oauth/token",
        },
        client_auth: ClientAuth::BasicWithJson,
        pkce: Pkce::Unsupported,
        scopes: scopes(NO_SCOPES, " "),
        parameters: &[("owner", "user")],
        mapping: FieldMapping {
            source: Source::TokenResponse,
            subject: &["/owner/user/id"],
            email: Some("/owner/user/person/email"),
            verified: Verified::Never,
            name: &["/owner/user/name"],
            avatar: Avatar::At("/owner/user/avatar_url"),
        },
        ..OPENID_CONNECT
    },
    // Slack's user ids are unique only within a team.
    Entry {
        key: "slack",
        name: "Slack",
        protocol: openid("https://slack.com", Some("https://slack.com/openid/connect/authorize")),
        pkce: Pkce::Unsupported,
        mapping: FieldMapping { subject: &["/https:~1~1slack.com~1team_id", "/sub"], ..STANDARD },
        ..OPENID_CONNECT
    },
    // Spotify documents the email address as unverified.
    Entry {
        key: "spotify",
        name: "Spotify",
        protocol: Protocol::OAuth {
            authorize: "https://accounts.spotify.com/authorize",
            token: "https://accounts.spotify.com/api/token",
        },
        client_auth: ClientAuth::Basic,
        scopes: Scopes {
            needed: &["user-read-email"],
            ..scopes(&["user-read-email", "user-read-private"], " ")
        },
        mapping: FieldMapping {
            source: profile("https://api.spotify.com/v1/me"),
            subject: &["/id"],
            email: Some("/email"),
            verified: Verified::Never,
            name: &["/display_name"],
            avatar: Avatar::At("/images/0/url"),
        },
        ..OPENID_CONNECT
    },
    // TikTok calls the client id `client_key`, and gives no email address.
    Entry {
        key: "tiktok",
        name: "TikTok",
        protocol: Protocol::OAuth {
            authorize: "https://www.tiktok.com/v2/auth/authorize/",
            token: "https://open.tiktokapis.com/v2/oauth/token/",
        },
        client_id_field: "client_key",
        pkce: Pkce::Unsupported,
        scopes: needed(&["user.info.basic"], ","),
        mapping: FieldMapping {
            source: profile(
                "https://open.tiktokapis.com/v2/user/info/?fields=open_id,union_id,avatar_url,display_name",
            ),
            subject: &["/data/user/open_id"],
            email: None,
            verified: Verified::Never,
            name: &["/data/user/display_name"],
            avatar: Avatar::At("/data/user/avatar_url"),
        },
        ..OPENID_CONNECT
    },
    // Twitch has claims other than the subject only if they are requested by name.
    Entry {
        key: "twitch",
        name: "Twitch",
        protocol: openid("https://id.twitch.tv/oauth2", Some("https://id.twitch.tv/oauth2/authorize")),
        pkce: Pkce::Unsupported,
        scopes: Scopes { usual: &["openid", "user:read:email"], ..OPENID },
        parameters: &[(
            "claims",
            r#"{"id_token":{"email":null,"email_verified":null,"picture":null,"preferred_username":null}}"#,
        )],
        mapping: FieldMapping { name: &["/preferred_username"], ..STANDARD },
        ..OPENID_CONNECT
    },
    // X gives no email address.
    Entry {
        key: "x",
        name: "X",
        protocol: Protocol::OAuth {
            authorize: "https://x.com/i/oauth2/authorize",
            token: "https://api.x.com/2/oauth2/token",
        },
        client_auth: ClientAuth::Basic,
        scopes: needed(&["users.read", "tweet.read"], " "),
        mapping: FieldMapping {
            source: profile("https://api.x.com/2/users/me?user.fields=profile_image_url"),
            subject: &["/data/id"],
            email: None,
            verified: Verified::Never,
            name: &["/data/name", "/data/username"],
            avatar: Avatar::At("/data/profile_image_url"),
        },
        ..OPENID_CONNECT
    },
    // Zoom's scopes are set when the app is registered. `verified` is about the account, not the mailbox.
    Entry {
        key: "zoom",
        name: "Zoom",
        protocol: Protocol::OAuth {
            authorize: "https://zoom.us/oauth/authorize",
            token: "https://zoom.us/oauth/token",
        },
        client_auth: ClientAuth::Basic,
        scopes: scopes(NO_SCOPES, " "),
        mapping: FieldMapping {
            source: profile("https://api.zoom.us/v2/users/me"),
            subject: &["/id"],
            email: Some("/email"),
            verified: Verified::Never,
            name: &["/display_name"],
            avatar: Avatar::At("/pic_url"),
        },
        ..OPENID_CONNECT
    },
];
