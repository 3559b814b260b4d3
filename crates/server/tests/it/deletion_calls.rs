//! Helpers for the deletion of an account by its owner, shared by several test files.

use std::time::Duration;

use latchkey_testkit::{
    Answer, Client, Request, Session, TestApp, TestAppBuilder, User, Value, challenge_id, json,
};

/// The path of the public profile of a user.
pub(crate) fn face(user: &User) -> String {
    format!("/api/profiles/{}", user.id)
}

/// deleteAccount.
pub(crate) fn delete(client: &Client) -> Request {
    client.delete("/api/auth/account")
}

/// Answers a challenge of kind `restore`.
pub(crate) fn restore(client: &Client, challenge: &str) -> Request {
    let body = json!({"challengeId": challenge, "kind": "restore"});
    client.post("/api/auth/challenges/answer", body)
}

/// Creates a user and deletes the account.
pub(crate) async fn deleted(app: &TestApp, name: &str) -> User {
    let user = app.user(name).await;
    delete(&user).send().await.expect(200);
    app.run_jobs().await;
    user
}

/// The id of the challenge in the response to a sign-in; it must be of kind `restore` alone.
#[track_caller]
pub(crate) fn restore_id(answer: &Answer) -> String {
    let id = challenge_id(answer);
    assert_eq!(answer.json()["challenge"]["kinds"], json!(["restore"]), "{answer:?}");
    id
}

/// Signs in with the password, up to the challenge of kind `restore`.
pub(crate) async fn asked(app: &TestApp, user: &User) -> String {
    restore_id(&app.anon().sign_in(&user.email, &user.password).send().await)
}

/// Signs in with the password and restores the account.
pub(crate) async fn restored(app: &TestApp, user: &User) -> Session {
    let challenge = asked(app, user).await;
    Session::of(&restore(&app.anon(), &challenge).send().await)
}

/// The user as an admin sees it.
pub(crate) async fn seen_by_admin(app: &TestApp, id: &str) -> Value {
    app.admin().get(&format!("/api/auth/users/{id}")).send().await.expect(200)
}

/// Without a grace.
pub(crate) fn at_once(builder: TestAppBuilder) -> TestAppBuilder {
    builder.verification_by_code().config(|config| config.lifetimes.deletion.grace = Duration::ZERO)
}
