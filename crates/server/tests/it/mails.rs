//! What mails say, and how the outbox sends, retries and gives up.

use latchkey_testkit::{PASSWORD, both_stores, hours};

both_stores! {
    with(|b| b.verification_by_code())
    async fn mail_that_fails_for_the_time_being_is_sent_later(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.mail().fail_next(1);
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);

        app.clock.advance(hours(1));
        app.run_jobs().await;

        assert_eq!(app.mail().count("ada@example.org"), 1);
    }

    with(|b| b.verification_by_code().mails_into_files())
    async fn inbox_of_development_lists_the_mails(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.run_jobs().await;

        let answer = app.anon().get("/dev/mail").header("host", "localhost:8700").send().await;

        assert!(answer.page(200).contains("ada@example.org"));
    }
}
