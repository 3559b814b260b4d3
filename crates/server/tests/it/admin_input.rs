//! Tests of the input of admin calls. Unknown names are refused, and the output of a GET can be sent back unchanged.

use latchkey_testkit::{Answer, PASSWORD, Request, TestApp, Value, both_stores, json};

use crate::routes::{NOBODY, ROUTES, Route, Who};

const USERS: &str = "/api/auth/users";
const GOOGLE: &str = "/api/auth/oauth/google/config";
const ACME: &str = "/api/auth/oauth/custom/acme/config";

/// All routes of the admin API, including the creation of a user.
fn admin_routes() -> impl Iterator<Item = &'static Route> {
    let is_admin = |route: &&Route| route.who == Who::Admin || (route.method, route.path) == ("POST", USERS);
    ROUTES.iter().filter(is_admin)
}

fn request(app: &TestApp, route: &Route, query: &str) -> Request {
    app.admin().request(route.method, &format!("{}{query}", route.path_of_an_unknown_id()))
}

/// Asserts an error that names this key or parameter.
#[track_caller]
fn refused_by_name(answer: &Answer, name: &str) -> String {
    let refusal = answer.refused(400, "VALIDATION_ERROR");
    assert_eq!((&refusal["field"], &refusal["reasons"]), (&json!(name), &json!(["unknown"])), "{answer:?}");
    let message = refusal["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with(&format!("`{name}` is not known here")), "{answer:?}");
    message
}

async fn message_of(request: Request, name: &str) -> String {
    refused_by_name(&request.send().await, name)
}

async fn configure(app: &TestApp) {
    let google = json!({"provider": "google", "clientId": "g", "clientSecret": "s"});
    app.admin().post("/api/auth/oauth/configs", google).send().await.expect(200);
    let discovery = "https://id.acme.example/.well-known/openid-configuration";
    let acme = json!({"key": "acme", "name": "Acme", "discoveryEndpoint": discovery, "clientId": "a", "clientSecret": "s"});
    app.admin().post("/api/auth/oauth/custom/configs", acme).send().await.expect(200);
}

both_stores! {
    async fn unknown_key_is_refused_by_name_on_every_admin_call(app) {
        // The body of an import is a file of another service.
        let takes_json = |route: &&Route| route.method != "GET" && (route.method, route.path) != ("POST", "/api/auth/import");
        for route in admin_routes().filter(takes_json) {
            let answer = request(&app, route, "").json(&json!({"nonsense": 1})).send().await;

            refused_by_name(&answer, "nonsense");
        }
    }

    async fn unknown_parameter_is_refused_by_name_on_every_admin_call(app) {
        for route in admin_routes() {
            for (query, name) in [("?nonsense=1", "nonsense"), ("?client_type=web&dry_run", "dry_run"), ("?=", "")] {
                let answer = request(&app, route, query).send().await;

                refused_by_name(&answer, name);
            }
            let undecodable = request(&app, route, "?%ff=1").send().await;
            undecodable.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn kind_of_client_is_known_on_every_admin_call(app) {
        for route in admin_routes() {
            let plain = request(&app, route, "").send().await;
            let named = request(&app, route, "?client_type=server").send().await;

            assert_eq!((plain.status, plain.error_code()), (named.status, named.error_code()), "{route:?}");
        }
        let body = json!({"client_type": "server", "passwordMinLength": 9});
        app.admin().put("/api/auth/config", body).send().await.expect(200);
    }

    async fn nearest_known_name_is_suggested(app) {
        let admin = app.admin();
        let user = format!("{USERS}/{NOBODY}");
        for (request, name, nearest) in [
            (admin.post(USERS, json!({"emial": "a@example.org", "password": PASSWORD})), "emial", "email"),
            (admin.post(USERS, json!({"auto_confirm": true})), "auto_confirm", "autoConfirm"),
            (admin.patch(&user, json!({"email_verified": true})), "email_verified", "emailVerified"),
            (admin.patch(&user, json!({"baned": true})), "baned", "banned"),
            (admin.delete(USERS).json(&json!({"userId": []})), "userId", "userIds"),
            (admin.put("/api/auth/config", json!({"disableSignUp": true})), "disableSignUp", "disableSignup"),
            (admin.put(GOOGLE, json!({"client_secret": "s"})), "client_secret", "clientSecret"),
            (admin.put(ACME, json!({"scope": []})), "scope", "scopes"),
            (admin.get(&format!("{USERS}?limt=5")), "limt", "limit"),
            (admin.get(&format!("{USERS}?ofset=5")), "ofset", "offset"),
            (admin.get("/api/auth/audit?befor=x"), "befor", "before"),
        ] {
            let message = message_of(request, name).await;

            assert!(message.ends_with(&format!("did you mean `{nearest}`?")), "{message}");
        }
    }

    async fn unknown_key_changes_nothing(app) {
        let ada = app.user("ada").await;
        let user = format!("{USERS}/{}", ada.id);
        let before = app.admin().get(&user).send().await.expect(200);
        let config = app.admin().get("/api/auth/config").send().await.expect(200);

        message_of(app.admin().patch(&user, json!({"banned": true, "reason": "spam"})), "reason").await;
        message_of(app.admin().put("/api/auth/config", json!({"disableSignup": true, "x": 1})), "x").await;
        message_of(app.admin().delete(USERS).json(&json!({"userIds": [ada.id], "hard": true})), "hard").await;
        message_of(app.admin().delete(&format!("{user}/profile?soft=1")), "soft").await;
        message_of(app.admin().delete(&format!("{user}/sessions")).json(&json!({"others": true})), "others").await;

        assert_eq!(app.admin().get(&user).send().await.expect(200), before);
        assert_eq!(app.admin().get("/api/auth/config").send().await.expect(200), config);
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    async fn output_of_a_get_can_be_sent_back(app) {
        configure(&app).await;
        let ada = app.user("ada").await;
        let user = format!("{USERS}/{}", ada.id);
        for (method, path) in
            [("PATCH", user.as_str()), ("PUT", "/api/auth/config"), ("PUT", GOOGLE), ("PUT", ACME)]
        {
            let mut shown = app.admin().get(path).send().await.expect(200);

            let answer = app.admin().request(method, path).json(&shown).send().await;

            let mut kept = answer.expect(200);
            for body in [&mut shown, &mut kept] {
                body.as_object_mut().unwrap().remove("updatedAt");
            }
            assert_eq!(kept, shown, "{path}");
        }
    }

    async fn read_only_keys_are_ignored_whatever_they_say(app) {
        configure(&app).await;
        let ada = app.user("ada").await;
        let user = format!("{USERS}/{}", ada.id);
        let body = json!({"id": NOBODY, "providers": 7, "createdAt": null, "updatedAt": [], "profile": {"name": "Eve"}});

        let changed = app.admin().patch(&user, body).send().await.expect(200);
        let google = json!({"provider": "github", "name": "Evil", "pinned": true, "redirectUri": 1});
        let google = app.admin().put(GOOGLE, google).send().await.expect(200);

        assert_eq!((&changed["id"], &changed["profile"]["name"]), (&json!(ada.id), &json!("Ada")));
        let kept = json!(["google", "Google", false]);
        assert_eq!(json!([google["provider"], google["name"], google["pinned"]]), kept);
    }

    async fn keys_of_a_sign_up_are_known_to_the_creation_of_a_user(app) {
        let body = json!({
            "email": "ada@example.org", "password": PASSWORD, "name": "Ada", "redirectTo": "https://app.example.org/",
            "options": {"emailRedirectTo": "https://app.example.org/"}, "autoConfirm": true,
        });

        let made = app.admin().post(USERS, body).send().await.expect(200);

        assert_eq!(made["user"]["emailVerified"], true);
    }

    async fn public_sign_up_ignores_unknown_keys(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "emial": 1});

        app.anon().post(&format!("{USERS}?utm_source=x"), body).send().await.expect(200);
    }

    async fn credentials_are_checked_before_names(app) {
        for route in admin_routes().filter(|route| route.who == Who::Admin) {
            let path = format!("{}?nonsense=1", route.path_of_an_unknown_id());

            let answer = app.anon().request(route.method, &path).send().await;

            answer.refused(401, "ADMIN_UNAUTHORIZED");
        }
    }

    async fn empty_body_is_no_body_where_none_is_taken(app) {
        let ada = app.user("ada").await;
        let path = format!("{USERS}/{}/sessions", ada.id);

        app.admin().delete(&path).json(&json!({})).send().await.expect(200);
        app.admin().delete(&path).raw("application/json", "").send().await.expect(200);
        app.admin().delete(&path).raw("application/json", "{").send().await.refused(400, "VALIDATION_ERROR");
        app.admin().delete(&path).raw("text/plain", "x").send().await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }

    async fn limit_above_the_most_is_refused(app) {
        for list in [USERS, "/api/auth/audit"] {
            let most = app.admin().get(list).query("limit", "100").send().await.expect(200);
            assert_eq!(most["pagination"]["limit"], 100);
            for limit in ["101", "1000", "0101", "18446744073709551616"] {
                let answer = app.admin().get(list).query("limit", limit).send().await;

                let refusal = answer.refused(400, "VALIDATION_ERROR");
                assert!(refusal["message"].as_str().unwrap().contains("`limit`"), "{refusal}");
            }
        }
    }

    async fn id_has_one_spelling_in_every_path(app) {
        let ada = app.user("ada").await;
        let admin = app.admin();
        for id in other_spellings(&ada.id) {
            let user = format!("{USERS}/{id}");
            admin.get(&user).send().await.refused(404, "USER_NOT_FOUND");
            admin.patch(&user, json!({"banned": true})).send().await.refused(404, "USER_NOT_FOUND");
            admin.delete(&format!("{user}/sessions")).send().await.refused(404, "USER_NOT_FOUND");
            admin.delete(&format!("{user}/profile")).send().await.refused(404, "USER_NOT_FOUND");
            app.anon().get(&format!("/api/profiles/{id}")).send().await.refused(404, "USER_NOT_FOUND");
            app.anon().get(&format!("/api/auth/profiles/{id}")).send().await.refused(404, "USER_NOT_FOUND");
        }
        for session in other_spellings(&own_session(&ada.get("/api/auth/sessions").send().await)) {
            ada.delete(&format!("/api/auth/sessions/{session}")).send().await.refused(404, "NOT_FOUND");
        }
        let upper = ada.id.to_uppercase();
        assert_eq!(admin.get(&format!("{USERS}/{upper}")).send().await.expect(200)["id"], json!(ada.id));
        app.anon().get(&format!("/api/profiles/{upper}")).send().await.expect(200);
    }

    async fn id_has_one_spelling_in_bodies_and_lists(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let delete = async |ids: Value| {
            let body = json!({"userIds": ids});
            app.admin().delete(USERS).json(&body).send().await.expect(200)["deletedCount"].clone()
        };

        let mut unknown = other_spellings(&ada.id);
        unknown.extend(["ada".to_owned(), String::new()]);
        assert_eq!(delete(json!(unknown)).await, 0);
        for id in &unknown[..4] {
            let found = app.admin().get(USERS).query("search", id).send().await.expect(200);
            assert_eq!(found["pagination"]["total"], 0, "{id}");
        }
        ada.get("/api/profiles/me").send().await.expect(200);

        assert_eq!(delete(json!([ada.id.to_uppercase(), "{x}", eve.id])).await, 2);
    }

    async fn event_id_has_one_spelling(app) {
        let ada = app.user("ada").await;
        app.admin().delete(&format!("{USERS}/{}/sessions", ada.id)).send().await.expect(200);
        let page = app.admin().get("/api/auth/audit").query("limit", "1").send().await.expect(200);
        let id = page["pagination"]["nextBefore"].as_str().unwrap().to_owned();

        for before in other_spellings(&id) {
            let answer = app.admin().get("/api/auth/audit").query("before", &before).send().await;
            answer.refused(400, "VALIDATION_ERROR");
        }
        app.admin().get("/api/auth/audit").query("before", &id.to_uppercase()).send().await.expect(200);
    }
}

/// Other spellings of a UUID, such as upper case.
fn other_spellings(id: &str) -> Vec<String> {
    let bare = id.replace('-', "");
    vec![bare.clone(), format!("{{{id}}}"), format!("urn:uuid:{id}"), format!("{{{bare}}}")]
}

fn own_session(list: &Answer) -> String {
    list.expect(200)["sessions"][0]["id"].as_str().unwrap().to_owned()
}
