//! Tests of the cache of verified access tokens, which must not be noticeable: the end of a session takes effect on the
//! next call with a cached token, on every instance. So do the token's expiry and a changed character.

use latchkey_testkit::{TestApp, User, both_stores, days, json, minutes, seconds};

const ME: &str = "/api/profiles/me";
const CURRENT: &str = "/api/auth/sessions/current";

both_stores! {
    async fn cached_token_is_refused_right_after_sign_out_on_every_call(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;
        use_it(&app, &other, &ada).await;

        app.anon().sign_out(&ada.session).send().await.expect(200);

        is_refused(&app, &other, &ada).await;
    }

    async fn cached_token_is_refused_right_after_a_ban_and_never_valid_again(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;
        use_it(&app, &other, &ada).await;
        let path = format!("/api/auth/users/{}", ada.id);

        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);
        is_refused(&app, &other, &ada).await;

        app.admin().patch(&path, json!({"banned": false})).send().await.expect(200);
        is_refused(&app, &other, &ada).await;
    }

    async fn cached_token_is_refused_right_after_its_user_was_deleted(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;
        use_it(&app, &other, &ada).await;

        let deleted = app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await;
        deleted.expect(200);

        is_refused(&app, &other, &ada).await;
    }

    async fn cached_token_expires_to_the_second(app) {
        let ada = app.user("ada").await;
        use_it(&app, &app, &ada).await;

        app.clock.advance(minutes(15) - seconds(1));
        ada.get(ME).send().await.expect(200);
        app.clock.advance(seconds(1));

        is_refused(&app, &app, &ada).await;
    }

    async fn cached_token_validates_no_other_text(app) {
        let ada = app.user("ada").await;
        use_it(&app, &app, &ada).await;
        let token = &ada.session.access_token;
        let (head, signature) = token.rsplit_once('.').unwrap();

        for other in [format!("{head}."), format!("{token}A"), format!("{head}.A{}", &signature[1..])] {
            if other != *token {
                app.bearing(&other).get(ME).send().await.refused(401, "AUTH_UNAUTHORIZED");
            }
        }
    }

    async fn cached_token_survives_key_rotation_but_not_the_end_of_its_own_key(app) {
        let ada = app.user("ada").await;
        use_it(&app, &app, &ada).await;

        app.clock.advance(minutes(5));
        let rotated = app.service().sessions.rotate_signing_key(latchkey_domain::operator::Party::Admin, None).await;
        assert!(rotated.unwrap());
        use_it(&app, &app, &ada).await;

        app.clock.advance(days(1));
        is_refused(&app, &app, &ada).await;
    }

    async fn deleted_profile_is_not_found_and_ends_no_session(app) {
        let ada = app.user("ada").await;
        use_it(&app, &app, &ada).await;

        let path = format!("/api/auth/users/{}/profile", ada.id);
        app.admin().delete(&path).send().await.expect(200);

        ada.get(ME).send().await.refused(404, "PROFILE_NOT_FOUND");
        ada.get(CURRENT).send().await.expect(200);
    }
}

/// Sends the token to two instances, so that both cache it.
async fn use_it(one: &TestApp, other: &TestApp, user: &User) {
    for app in [one, other] {
        for path in [ME, CURRENT, ME] {
            app.with_session(&user.session).get(path).send().await.expect(200);
        }
    }
}

async fn is_refused(one: &TestApp, other: &TestApp, user: &User) {
    for app in [other, one] {
        let client = app.with_session(&user.session);
        for path in [ME, CURRENT, "/api/auth/sessions"] {
            client.get(path).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        client.patch(ME, json!({"name": "Eve"})).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }
}
