//! Helpers for changes of an email address, shared by several test files.

use latchkey_testkit::{Answer, Client, Mail, Request, TestApp, User, Value, json};

/// A change of address that was begun, with the codes of its mails.
pub(crate) struct Begun {
    pub(crate) id: String,
    /// Code of the mail to the new address; empty if it got none.
    pub(crate) new: String,
    /// Code of the mail to the current address; empty if it got none.
    pub(crate) current: String,
}

/// changeEmail.
pub(crate) fn change(client: &Client, new_email: &str) -> Request {
    client.post("/api/auth/email/change", json!({"newEmail": new_email}))
}

/// cancelEmailChange.
pub(crate) fn cancel(client: &Client) -> Request {
    client.delete("/api/auth/email/change")
}

/// confirmEmailChange with a code of each side; an empty one is left out.
pub(crate) fn confirm(client: &Client, id: &str, new: &str, current: &str) -> Request {
    let mut body = json!({"changeId": id});
    for (key, code) in [("newCode", new), ("currentCode", current)] {
        if !code.is_empty() {
            body[key] = Value::from(code);
        }
    }
    client.post("/api/auth/email/change/confirm", body)
}

/// Begins a change of an account with this address, and reads the mails.
pub(crate) async fn begun(app: &TestApp, client: &Client, email: &str, new_email: &str) -> Begun {
    app.run_jobs().await; // earlier mails
    let before = [new_email, email].map(|address| app.mail().count(address));
    let body = change(client, new_email).send().await.expect(202);
    app.run_jobs().await;
    let code = |address: &str, before: usize| {
        if app.mail().count(address) > before { app.mail().last(address).code() } else { String::new() }
    };
    Begun { id: id_of(&body), new: code(new_email, before[0]), current: code(email, before[1]) }
}

pub(crate) fn id_of(body: &Value) -> String {
    body["changeId"].as_str().unwrap_or_else(|| panic!("no changeId: {body}")).to_owned()
}

/// Changes the address of a user; the response.
pub(crate) async fn changed(app: &TestApp, user: &User, new_email: &str) -> Answer {
    changed_from(app, user, &user.email, new_email).await
}

/// Changes the address of an account that has the address `email`.
pub(crate) async fn changed_from(app: &TestApp, client: &Client, email: &str, new_email: &str) -> Answer {
    let Begun { id, new, current } = begun(app, client, email, new_email).await;
    let answer = confirm(client, &id, &new, &current).send().await;
    assert_eq!(answer.expect(200)["user"]["email"], new_email);
    app.run_jobs().await;
    answer
}

/// Changes the address of a user; the undo token of the mail to the old address.
pub(crate) async fn moved(app: &TestApp, user: &User, new_email: &str) -> String {
    changed(app, user, new_email).await;
    app.mail().last(&user.email).token()
}

/// undoChange.
pub(crate) fn undo(client: &Client, token: &str, email: &str) -> Request {
    client.post("/api/auth/undo", json!({"token": token, "email": email}))
}

/// Asserts that a mail tells time, device and address of the request that caused it.
pub(crate) fn assert_tells_the_request(mail: &Mail) {
    for part in ["Time: 2026-03-02 10:", "Device: Unknown device", "IP address: 198.18."] {
        assert!(mail.text.contains(part), "{part}: {mail:#?}");
    }
}
