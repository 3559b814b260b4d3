//! Arguments of `latchkey oauth`.

use clap::{Args, Subcommand};

/// `latchkey oauth …`
#[derive(Debug, Subcommand)]
pub enum OAuthCommand {
    /// Configure an identity provider. Its secret is the first line of standard input; Apple's private key is all of it.
    Add(AddProvider),
    /// List the identity providers that are configured.
    List,
    /// Remove an identity provider; identities stay linked and open nothing until it is back.
    Remove {
        /// The provider's key.
        key: String,
    },
}

/// `latchkey oauth add …`
#[derive(Debug, Args)]
pub struct AddProvider {
    /// The key: that of a built-in provider such as google, or a new one for a custom provider.
    pub key: String,
    /// The client's id at the provider.
    #[arg(long, value_name = "ID")]
    pub client_id: String,
    /// A custom provider's discovery document, or its issuer.
    #[arg(long, value_name = "URL")]
    pub discovery: Option<String>,
    /// What people call a custom provider.
    #[arg(long)]
    pub name: Option<String>,
    /// A scope to ask for, instead of the usual ones; may be given several times.
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// A native app's client id, for sign-in by id token; may be given several times.
    #[arg(long = "native-client-id", value_name = "ID")]
    pub native_client_ids: Vec<String>,
    /// Microsoft alone: common, organizations, consumers, or a directory's id.
    #[arg(long)]
    pub tenant: Option<String>,
    /// Apple alone: the team's id.
    #[arg(long, value_name = "ID", requires = "key_id")]
    pub team_id: Option<String>,
    /// Apple alone: the id of the private key.
    #[arg(long, value_name = "ID", requires = "team_id")]
    pub key_id: Option<String>,
    /// Refuse an address that has an account, even where the provider verified it: its owner signs in and links.
    #[arg(long)]
    pub no_link_by_email: bool,
}
