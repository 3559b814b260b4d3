//! Commands `latchkey user mails`, `send-verification`, `send-reset`, `end-sessions`, `set-password` and `unlink`.

use latchkey_domain::ids::SessionId;
use latchkey_domain::operator::Party;
use latchkey_domain::user::User;
use latchkey_service::admin::HelpMail;

use super::{find, read_password};
use crate::cli::{Output, SendMailArgs, Sure, UserRef};
use crate::commands::count::count;
use crate::commands::sure::confirm;
use crate::commands::{CommandError, mail};
use crate::wiring::Assembly;

/// Maximum number of mails that are listed.
const MAILS: u32 = 100;

pub(super) async fn mails(assembly: &Assembly, user: &UserRef, output: Output) -> Result<(), CommandError> {
    let id = find(assembly, user).await?.id;
    mail::print(assembly.service.admin.list_mails(id, MAILS).await?, output)
}

pub(super) async fn send(
    assembly: &Assembly,
    args: SendMailArgs,
    mail: HelpMail,
) -> Result<(), CommandError> {
    let id = find(assembly, &args.user).await?.id;
    let email = assembly.service.admin.send_mail(id, mail, args.redirect_to, Party::System, None).await?;
    println!("a mail to {} waits to be sent", email.as_typed());
    Ok(())
}

pub(super) async fn end_sessions(
    assembly: &Assembly,
    user: &UserRef,
    session: Option<SessionId>,
) -> Result<(), CommandError> {
    let id = find(assembly, user).await?.id;
    let admin = &assembly.service.admin;
    let ended = match session {
        Some(session) => {
            admin.end_session(id, session, Party::System, None).await?;
            1
        }
        None => admin.end_all_sessions(id, Party::System, None).await?,
    };
    println!("ended {} of {id}", count(ended, "session"));
    Ok(())
}

pub(super) async fn set_password(assembly: &Assembly, user: &UserRef) -> Result<(), CommandError> {
    let id = find(assembly, user).await?.id;
    assembly.service.admin.set_password(id, read_password().await?, Party::System, None).await?;
    println!("set the password of {id}, and ended its sessions");
    Ok(())
}

pub(super) async fn unlink(
    assembly: &Assembly,
    user: &UserRef,
    identity: (&str, Option<&str>),
    sure: Sure,
) -> Result<(), CommandError> {
    let User { id, email, .. } = find(assembly, user).await?;
    let question =
        async || Ok(format!("Unlink {} from {}? It cannot be undone.", identity.0, email.as_typed()));
    confirm(sure, "user unlink", "unlinked", question).await?;
    assembly.service.admin.unlink_identity(id, identity, Party::System, None).await?;
    println!("unlinked {} from {id}", identity.0);
    Ok(())
}
