//! Tests of entity tags and If-Match of the own profile (RFC 9110 section 13.1.1).

use latchkey_testkit::{Answer, User, both_stores, json, minutes};

const ME: &str = "/api/profiles/me";

async fn etag(user: &User) -> String {
    tag_of(&user.get(ME).send().await)
}

fn tag_of(answer: &Answer) -> String {
    answer.expect(200);
    answer.header("etag").expect("an ETag").to_owned()
}

/// Changes the profile with this `If-Match` header.
async fn patch_if(user: &User, if_match: &str) -> Answer {
    user.patch(ME, json!({"bio": "changed"})).header("if-match", if_match).send().await
}

both_stores! {
    async fn etag_is_a_strong_quoted_tag_that_stays_until_the_next_change(app) {
        let ada = app.user("ada").await;

        let (first, again) = (etag(&ada).await, etag(&ada).await);
        let changed = tag_of(&ada.patch(ME, json!({"bio": "changed"})).send().await);

        assert!(first.starts_with('"') && first.ends_with('"') && first.len() > 2, "{first}");
        assert_eq!(first, again);
        assert_ne!(first, changed);
        assert_eq!(changed, etag(&ada).await);
    }

    async fn empty_change_keeps_etag_and_time(app) {
        let ada = app.user("ada").await;
        let before = ada.get(ME).send().await;
        app.clock.advance(minutes(1));

        let after = ada.patch(ME, json!({})).send().await;
        let unknown = ada.patch(ME, json!({"nobody_knows": 1, "id": "x"})).send().await;

        assert_eq!((after.expect(200), tag_of(&after)), (before.expect(200), tag_of(&before)));
        assert_eq!((unknown.expect(200), tag_of(&unknown)), (before.expect(200), tag_of(&before)));
    }

    async fn change_of_the_flat_profile_changes_the_etag(app) {
        let ada = app.user("ada").await;
        let before = etag(&ada).await;

        ada.patch("/api/auth/profiles/current", json!({"colour": "red"})).send().await.expect(200);

        assert_ne!(etag(&ada).await, before);
    }

    async fn matching_tag_lets_the_change_pass(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;

        let answer = patch_if(&ada, &tag).await;

        assert_eq!(answer.expect(200)["bio"], "changed");
    }

    async fn tag_of_an_earlier_state_is_refused_and_changes_nothing(app) {
        let ada = app.user("ada").await;
        let old = etag(&ada).await;
        ada.patch(ME, json!({"bio": "by another tab"})).send().await.expect(200);

        patch_if(&ada, &old).await.refused(412, "PRECONDITION_FAILED");

        assert_eq!(ada.get(ME).send().await.expect(200)["bio"], "by another tab");
    }

    async fn star_matches_any_state(app) {
        let ada = app.user("ada").await;

        patch_if(&ada, "*").await.expect(200);
    }

    async fn one_tag_of_a_list_is_enough(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;

        let answer = patch_if(&ada, &format!("\"other\", {tag} ,W/\"x\"")).await;

        answer.expect(200);
    }

    async fn list_may_stand_in_several_headers(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;

        let request = ada.patch(ME, json!({"bio": "changed"}));
        let answer = request.header("if-match", "\"other\"").and_header("if-match", &tag).send().await;

        answer.expect(200);
    }

    async fn weak_tag_never_matches(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;

        patch_if(&ada, &format!("W/{tag}")).await.refused(412, "PRECONDITION_FAILED");
    }

    async fn foreign_and_malformed_tags_do_not_match(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;
        let bare = tag.trim_matches('"').to_owned();

        for header in ["\"\"", "\"x\"", &bare, &format!("\"{bare}"), "\"*\"", "\"x\", \"y\"", "\"ä\""] {
            patch_if(&ada, header).await.refused(412, "PRECONDITION_FAILED");
        }
        assert_eq!(etag(&ada).await, tag);
    }

    async fn tag_is_compared_character_by_character(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;
        let digit = tag.find(|c: char| c.is_ascii_digit()).unwrap_or(1);

        for insert in ["0", "+", " "] {
            let mut near = tag.clone();
            near.insert_str(digit, insert);
            patch_if(&ada, &near).await.refused(412, "PRECONDITION_FAILED");
        }
    }

    async fn tag_of_another_users_profile_does_not_match(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        for bio in ["one", "two", "three"] {
            eve.patch(ME, json!({"bio": bio})).send().await.expect(200);
        }
        let tag = etag(&eve).await;

        patch_if(&ada, &tag).await.refused(412, "PRECONDITION_FAILED");
    }

    parallel async fn one_of_twenty_changes_with_the_same_tag_is_made(app) {
        let ada = app.user("ada").await;
        let tag = etag(&ada).await;

        let change = |n: usize| ada.patch(ME, json!({"bio": n.to_string()})).header("if-match", &tag);
        let racers: Vec<_> = (0..20).map(|n| tokio::spawn(change(n).send())).collect();
        let mut statuses = Vec::new();
        for racer in racers {
            statuses.push(racer.await.unwrap().status);
        }

        statuses.sort_unstable();
        assert_eq!(statuses[0], 200);
        assert_eq!(statuses[1..], [412; 19]);
    }
}
