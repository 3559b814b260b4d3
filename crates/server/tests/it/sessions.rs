//! getCurrentUser, the list of one's own sessions and their end, signOut.

use latchkey_testkit::both_stores;

both_stores! {
    async fn sign_out_acts_on_the_very_next_request_on_every_instance(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;
        other.with_session(&ada.session).get("/api/auth/sessions/current").send().await.expect(200);

        app.anon().sign_out(&ada.session).send().await.expect(200);

        let answer = other.with_session(&ada.session).get("/api/auth/sessions/current").send().await;
        answer.refused(401, "AUTH_UNAUTHORIZED");
    }
}
