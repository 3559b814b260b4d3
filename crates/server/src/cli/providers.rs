//! Arguments of `latchkey oauth`.

use clap::{Args, Subcommand};

use super::{Output, Sure};

/// Subcommands of `latchkey oauth`.
#[derive(Debug, Subcommand)]
pub enum OAuthCommand {
    /// Configure an identity provider. Its client secret is the first line of standard input; for Apple, the private
    /// key in PEM is all of standard input.
    Add(AddProvider),
    /// List the configured identity providers.
    List(Output),
    /// Remove an identity provider with its secret. Linked identities stay stored, but cannot sign in until the provider
    /// is added again. At a terminal it asks for confirmation.
    Remove {
        /// Key of the provider, as `oauth list` shows it.
        key: String,
        #[command(flatten)]
        sure: Sure,
    },
}

/// Arguments of `latchkey oauth add`.
#[derive(Debug, Args)]
pub struct AddProvider {
    /// Key of the provider: that of a built-in one such as google, or a new one for a custom provider.
    pub key: String,
    /// OAuth client id that the provider issued.
    #[arg(long, value_name = "ID")]
    pub client_id: String,
    /// URL of the discovery document of a custom provider, or its issuer.
    #[arg(long, value_name = "URL")]
    pub discovery: Option<String>,
    /// Display name of a custom provider.
    #[arg(long)]
    pub name: Option<String>,
    /// OAuth scope to request, instead of the default scopes; may be given several times.
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// Client id of a native app, for sign-in with an id token; may be given several times.
    #[arg(long = "native-client-id", value_name = "ID")]
    pub native_client_ids: Vec<String>,
    /// Microsoft only: common, organizations, consumers, or the id of a directory.
    #[arg(long)]
    pub tenant: Option<String>,
    /// Apple only: team id.
    #[arg(long, value_name = "ID", requires = "key_id")]
    pub team_id: Option<String>,
    /// Apple only: id of the private key.
    #[arg(long, value_name = "ID", requires = "team_id")]
    pub key_id: Option<String>,
    /// Do not link identities by email address. If an account with the address exists, its owner must sign in and link
    /// the identity.
    #[arg(long)]
    pub no_link_by_email: bool,
}
