//! Tests of the mail about what the first proof of a mailbox removed from an account.

use latchkey_testkit::{Mail, PASSWORD, TestApp, both_stores};

use crate::email_calls::{other_than, reset, reset_token, sign_in_by_code, sign_in_code, verify_token};
use crate::email_sign_in::session_by_code;
use crate::first_proof::{click, code_of_owner, link_of_owner, owner_by_provider, settle};

const ADA: &str = "ada@example.org";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Mails about what was removed.
async fn mails_about_removal(app: &TestApp) -> Vec<Mail> {
    app.run_jobs().await;
    let mut mails = app.mail().all(ADA);
    mails.retain(|mail| mail.subject == "Earlier data of your account at Latchkey was removed");
    mails
}

both_stores! {
    async fn sign_in_by_mail_is_followed_by_a_mail_about_what_was_removed(app) {
        settle(&app).await;
        let desk = app.anon().at("203.0.113.7").with_header("user-agent", FIREFOX);
        let code = sign_in_code(&app, ADA).await;

        sign_in_by_code(&desk, ADA, &code).send().await.expect(200);

        let mails = mails_about_removal(&app).await;
        assert_eq!(mails.len(), 1);
        for body in [mails[0].prose(), mails[0].html.clone()] {
            for part in ["password", "linked accounts", "passkeys", "public profile", "sessions", "Firefox on Linux", "203.0.113.7"] {
                assert!(body.contains(part), "{part}: {body}");
            }
        }
    }

    // The name and the language in the account were those of the squatter.
    async fn mail_about_removal_does_not_greet_the_squatter(app) {
        settle(&app).await;

        session_by_code(&app, ADA).await;

        assert!(mails_about_removal(&app).await[0].text.starts_with("Hello,\n"));
    }

    async fn verification_by_code_is_followed_by_the_mail(app) {
        settle(&app).await;
        let code = code_of_owner(&app).await;

        app.anon().verify(ADA, &code).send().await.expect(200);

        assert_eq!(mails_about_removal(&app).await.len(), 1);
    }

    async fn verification_by_a_links_token_is_followed_by_the_mail(app) {
        settle(&app).await;
        let link = link_of_owner(&app).await;

        verify_token(&app.anon(), link.split_once("token=").unwrap().1).send().await.expect(200);

        assert_eq!(mails_about_removal(&app).await.len(), 1);
    }

    async fn link_is_followed_by_one_mail_once_the_owner_has_agreed(app) {
        settle(&app).await;
        let link = link_of_owner(&app).await;
        app.anon().get(&link).send().await.page(200);
        assert!(mails_about_removal(&app).await.is_empty());

        for _ in 0..2 {
            click(&app.anon(), &link).send().await.redirected();
        }

        assert_eq!(mails_about_removal(&app).await.len(), 1);
    }

    async fn sign_in_by_a_provider_is_followed_by_the_mail(app) {
        settle(&app).await;

        owner_by_provider(&app).await;

        assert_eq!(mails_about_removal(&app).await.len(), 1);
    }

    with(|b| b.verification_by_code())
    async fn pending_account_that_lost_its_password_gets_the_mail(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        session_by_code(&app, ADA).await;

        assert_eq!(mails_about_removal(&app).await.len(), 1);
    }

    async fn reset_is_followed_by_the_mail(app) {
        settle(&app).await;
        let token = reset_token(&app, ADA).await;

        reset(&app.anon(), &token, "a wholly new lantern").send().await.expect(200);

        assert_eq!(mails_about_removal(&app).await.len(), 1);
    }

    // Nothing but the password was in it.
    with(|b| b.verification_by_code())
    async fn reset_of_a_pending_account_mails_nothing_about_removal(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let token = reset_token(&app, ADA).await;

        reset(&app.anon(), &token, "a wholly new lantern").send().await.expect(200);

        assert!(mails_about_removal(&app).await.is_empty());
    }

    async fn verification_from_inside_removes_nothing_and_mails_nothing(app) {
        let ada = settle(&app).await;
        let code = code_of_owner(&app).await;

        ada.verify(ADA, &code).send().await.expect(200);

        assert!(mails_about_removal(&app).await.is_empty());
    }

    async fn wrong_code_mails_nothing(app) {
        settle(&app).await;
        let code = sign_in_code(&app, ADA).await;

        sign_in_by_code(&app.anon(), ADA, other_than(&code)).send().await.refused(400, "INVALID_CODE");

        assert!(mails_about_removal(&app).await.is_empty());
    }

    with(|b| b.verification_by_code())
    async fn sign_in_by_mail_to_a_proven_account_mails_nothing(app) {
        app.user("ada").await;

        session_by_code(&app, ADA).await;

        assert!(mails_about_removal(&app).await.is_empty());
    }
}
