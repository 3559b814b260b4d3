//! Command `latchkey user list`.

use latchkey_domain::user_list::{UserFilter, UserSearch};
use latchkey_service::admin::{ListUsers, UserPosition};
use serde_json::json;

use super::{facts, yes};
use crate::cli::UserListArgs;
use crate::commands::table::Table;
use crate::commands::{CommandError, json};
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, args: &UserListArgs) -> Result<(), CommandError> {
    let list = ListUsers {
        filter: UserFilter {
            search: args.search.as_deref().and_then(UserSearch::parse),
            state: args.state,
            provider: args.provider.clone(),
            created_after: args.created_after,
            created_before: args.created_before,
            signed_in_after: args.signed_in_after,
            signed_in_before: args.signed_in_before,
        },
        order: args.sort.order(),
        position: UserPosition::Offset(args.offset.into()),
        limit: args.limit,
    };
    let page = assembly.service.admin.list_users(&list).await?;
    if args.output.json {
        let users: Vec<_> = page.users.iter().map(facts).collect();
        return Ok(json::print(&json!({"data": users, "total": page.total}))?);
    }
    let mut table = Table::new(["ID", "CREATED", "LAST SIGN-IN", "VERIFIED", "BANNED", "EMAIL"]);
    for user in &page.users {
        let (verified, banned) = (yes(user.email_verified).to_owned(), yes(user.is_banned()).to_owned());
        let (id, created, email) =
            (user.id.to_string(), user.created_at.to_string(), user.email.as_typed().to_owned());
        let signed_in = user.last_sign_in_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        table.row([id, created, signed_in, verified, banned, email]);
    }
    table.print();
    println!("{} of {}", page.users.len(), page.total);
    Ok(())
}
