//! Cases of the search: matches, order, totals.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::page::Page;
use latchkey_domain::profile::{Bio, Metadata, Name, ProfilePatch, Username};
use latchkey_domain::search::SearchQuery;
use latchkey_domain::user::{AppMetadata, User};
use serde_json::json;

use super::fixtures::{World, at, key, mac, object};
use super::profiles::{handle, named, update};
use latchkey_store::{NewAccount, ProfileHits, UpdateUser};

/// Creates a user whose profile has these texts. The number determines address and creation time.
async fn profile(world: &World, number: i64, name: &str, username: &str, bio: &str) -> User {
    let user = world.verified(&format!("p{number}"), at(number)).await;
    let patch = ProfilePatch {
        name: Some(Name::parse(name).unwrap()),
        username: (!username.is_empty()).then(|| Some(Username::parse(username).unwrap())),
        bio: (!bio.is_empty()).then(|| Some(Bio::parse(bio).unwrap())),
        ..ProfilePatch::default()
    };
    world.update_profile(update(user.id, patch)).await.unwrap();
    user
}

/// Searches one page.
pub(super) async fn search(world: &World, query: &str, page: Page) -> ProfileHits {
    world.search_profiles(&SearchQuery::parse(query).unwrap(), page).await.unwrap()
}

/// Users on the first page of a search, in order.
pub(super) async fn found(world: &World, query: &str) -> Vec<UserId> {
    let hits = search(world, query, Page::new(100, 0)).await;
    assert_eq!(hits.total, u64::try_from(hits.profiles.len()).unwrap());
    hits.profiles.into_iter().map(|profile| profile.user_id).collect()
}

async fn finds(world: &World, query: &str, user: &User) -> bool {
    found(world, query).await.contains(&user.id)
}

pub(super) async fn every_word_may_occur_in_another_field(world: World) {
    let ada = profile(&world, 1, "Ada Lovelace", "countess", "Analytical engines").await;
    profile(&world, 2, "Ada Byron", "byron", "Poems").await;

    for query in
        ["ada engine", "countess lovelace", "nalytic ount ovel", "LOVELACE", "ádá analytical", "a an l"]
    {
        assert_eq!(found(&world, query).await, [ada.id], "{query}");
    }
    for query in ["ada poems engines", "lovelaces", "adalovelace", "lace an x"] {
        assert!(found(&world, query).await.is_empty(), "{query}");
    }
}

pub(super) async fn a_hit_is_the_whole_profile(world: World) {
    let ada = profile(&world, 1, "Ada", "countess", "Engines").await;

    let hits = search(&world, "ada", Page::default()).await;

    assert_eq!(hits.profiles, [world.find_profile(ada.id).await.unwrap().unwrap()]);
}

pub(super) async fn better_ranks_come_first_and_newer_profiles_within_a_rank(world: World) {
    let rest_old = profile(&world, 1, "Grand Ada", "", "").await;
    let exact_old = profile(&world, 2, "ÁDA", "", "").await;
    let prefix_old = profile(&world, 3, "Adamant", "", "").await;
    let exact_by_username = profile(&world, 4, "Somebody", "ada", "").await;
    let prefix_by_username = profile(&world, 5, "Else", "ada_x", "").await;
    let rest_by_bio = profile(&world, 6, "Bio", "", "ada").await;
    let rest_new = profile(&world, 7, "Nevada", "", "").await;

    let order = [
        &exact_by_username,
        &exact_old,
        &prefix_by_username,
        &prefix_old,
        &rest_new,
        &rest_by_bio,
        &rest_old,
    ];

    assert_eq!(found(&world, "ada").await, order.map(|user| user.id));
}

pub(super) async fn an_edit_makes_no_profile_newer(world: World) {
    let old = profile(&world, 1, "Ada", "", "").await;
    let new = profile(&world, 2, "Ada", "", "").await;

    world
        .update_profile(update(
            old.id,
            ProfilePatch { bio: Some(Some(Bio::parse("x").unwrap())), ..named("Ada") },
        ))
        .await
        .unwrap();

    assert_eq!(found(&world, "ada").await, [new.id, old.id]);
}

pub(super) async fn profiles_of_equal_time_are_ordered_by_id_descending(world: World) {
    let mut ids = Vec::new();
    for number in 0..5 {
        let user = world.verified(&format!("same{number}"), at(0)).await;
        world.update_profile(update(user.id, named("Ada"))).await.unwrap();
        ids.push((world.find_profile(user.id).await.unwrap().unwrap().id, user.id));
    }
    ids.sort_unstable();

    let order: Vec<UserId> = ids.iter().rev().map(|(_, user)| *user).collect();

    assert_eq!(found(&world, "ada").await, order);
}

pub(super) async fn pages_are_whole_and_never_overlap(world: World) {
    for number in 0..23 {
        profile(&world, number, ["Ada", "Adam", "Grand Ada"][usize::try_from(number % 3).unwrap()], "", "")
            .await;
    }
    let whole = found(&world, "ada").await;
    let mut paged = Vec::new();

    for offset in [0, 5, 10, 15, 20] {
        let hits = search(&world, "ada", Page::new(5, offset)).await;
        assert_eq!(hits.total, 23);
        paged.extend(hits.profiles.into_iter().map(|profile| profile.user_id));
    }

    assert_eq!(paged, whole);
    assert_eq!(paged.len(), 23);
}

pub(super) async fn totals_are_exact_at_any_offset(world: World) {
    for number in 0..7 {
        profile(&world, number, "Ada", "", "").await;
    }
    for offset in [0, 6, 7, 8, 1_000_000, u64::MAX] {
        let hits = search(&world, "ada", Page::new(5, offset)).await;

        assert_eq!(hits.total, 7, "at {offset}");
        let left = usize::try_from(7_u64.saturating_sub(offset).min(5)).unwrap();
        assert_eq!(hits.profiles.len(), left, "at {offset}");
    }
    assert_eq!(search(&world, "nothing", Page::new(5, 0)).await.total, 0);
}

/// Bios full of search operators.
const HOSTILE_TEXTS: [&str; 16] = [
    "100% sure",
    "snake_case",
    "a*b* c",
    "\"quoted words\"",
    "it's 'fine'",
    "back\\slash",
    "NEAR(ada)",
    "-minus",
    "col:umn",
    "^caret",
    "{curly}",
    "a AND b",
    "semi;--colon",
    "[set]",
    "??? what",
    "tab%_*\"'",
];
/// Queries, each with the number of matching bios.
const HOSTILE_QUERIES: [(&str, usize); 36] = [
    ("%", 0),
    ("100%", 1),
    ("%%%", 0),
    ("_", 0),
    ("e_c", 1),
    ("___", 0),
    ("*", 0),
    ("a*b*", 1),
    ("***", 0),
    ("\"", 1),
    ("\"quoted", 1),
    ("\"plain\"", 0),
    ("'fine'", 1),
    ("it's", 1),
    ("\\", 0),
    ("k\\s", 1),
    ("near(ada)", 1),
    ("near(ada plain)", 0),
    ("-minus", 1),
    ("plain -minus", 1),
    ("l:u", 1),
    ("bio:sure", 0),
    ("^caret", 1),
    ("^plain", 0),
    ("{curly}", 1),
    ("sure OR fine", 0),
    ("a and b", 1),
    ("i;--", 1),
    ("[set]", 1),
    ("[a-z]", 0),
    ("???", 1),
    ("%_*", 1),
    ("plain NOT sure", 0),
    ("' OR '1'='1", 0),
    ("\"\"\"", 0),
    ("sure\" OR \"fine", 0),
];

pub(super) async fn metacharacters_are_plain_characters(world: World) {
    for (number, text) in (0..).zip(HOSTILE_TEXTS) {
        profile(&world, number, "Plain", "", text).await;
    }

    for (query, hits) in HOSTILE_QUERIES {
        assert_eq!(found(&world, query).await.len(), hits, "{query}");
    }
}

pub(super) async fn short_words_match_at_the_start_of_a_word(world: World) {
    let ada = profile(&world, 1, "Ada Lovelace", "countess_x", "on engines 計算機 𝒳𝒴 🙂 fun").await;

    for query in ["a", "ad", "l", "lo", "co", "e", "en", "計", "計算", "xy", "🙂", "on", "A L", "fu ad"]
    {
        assert!(finds(&world, query, &ada).await, "{query}");
    }
    for query in ["d", "da", "y", "ve", "ss", "算機", "機", "gi", "a v"] {
        assert!(!finds(&world, query, &ada).await, "{query}");
    }
    for query in ["ada", "vel", "算機 fun", "ess_x", "計算機"] {
        assert_eq!(finds(&world, query, &ada).await, query != "算機 fun", "{query}");
    }
}

pub(super) async fn case_accents_width_and_ligatures_make_no_difference(world: World) {
    let eva = profile(&world, 1, "Éva Straße ﬁnn", "", "ＷＩＤＥ Σίσυφος a\u{200B}b\u{AD}c").await;

    for query in
        ["eva", "E\u{301}VA", "ÈVÄ", "STRASSE", "straẞe", "finn", "ﬁn", "wide", "ΣΊΣΥΦΟΣ", "abc", "ＥＶＡ"]
    {
        assert!(finds(&world, query, &eva).await, "{query}");
    }
}

pub(super) async fn words_end_at_unicode_white_space(world: World) {
    let ada = profile(&world, 1, "Ada\u{A0}King", "", "one\ntwo\tthree\u{3000}four").await;

    for query in ["ki", "tw", "th", "fo", "ada   king", "two\u{2003}four"] {
        assert!(finds(&world, query, &ada).await, "{query}");
    }
    assert!(!finds(&world, "wo", &ada).await);
}

pub(super) async fn an_edit_is_seen_at_once(world: World) {
    let ada = profile(&world, 1, "Ada", "countess", "Engines").await;
    let patch = ProfilePatch {
        username: Some(None),
        bio: Some(Some(Bio::parse("Poems").unwrap())),
        ..named("Augusta")
    };

    world.update_profile(update(ada.id, patch)).await.unwrap();

    for (query, hits) in
        [("ada", 0), ("countess", 0), ("engines", 0), ("augusta", 1), ("poems", 1), ("au", 1)]
    {
        assert_eq!(found(&world, query).await.len(), hits, "{query}");
    }
}

pub(super) async fn deleted_profiles_and_users_are_not_found(world: World) {
    let bare = profile(&world, 1, "Ada", "", "").await;
    let gone = profile(&world, 2, "Ada", "", "").await;

    assert!(world.deletes_profile(bare.id, at(6)).await);
    world.delete(&[gone.id], vec![world.event(AuditKind::UserDeleted, at(6))]).await;

    assert!(found(&world, "ada").await.is_empty());
    assert!(found(&world, "a").await.is_empty());
}

pub(super) async fn banned_users_are_not_found(world: World) {
    let ada = profile(&world, 1, "Ada", "", "").await;
    profile(&world, 2, "Ada", "", "").await;
    world.ban(ada.id, at(6)).await;
    assert!(!finds(&world, "ada", &ada).await);
    assert!(!finds(&world, "ad", &ada).await);

    let lift = UpdateUser { banned: Some(false), ..world.change(ada.id, at(7)) };
    world.update_user(lift).await.unwrap();

    assert!(finds(&world, "ada", &ada).await);
}

pub(super) async fn pending_users_are_not_found_before_their_proof(world: World) {
    let ada = world.pending("ada", at(0)).await;
    let eve = world.pending("eve", at(0)).await;
    for user in [&ada, &eve] {
        world.update_profile(update(user.id, named("Oracle"))).await.unwrap();
    }
    assert!(found(&world, "oracle").await.is_empty());

    assert!(world.verifies(&key("ada"), mac(1), at(6)).await);
    assert_eq!(found(&world, "oracle").await, [ada.id]);

    world.ban(eve.id, at(7)).await;
    let lift = UpdateUser { banned: Some(false), ..world.change(eve.id, at(8)) };
    world.update_user(lift).await.unwrap();
    assert_eq!(found(&world, "oracle").await, [ada.id]);
}

pub(super) async fn text_removed_by_the_first_proof_is_not_found(world: World) {
    let user = world.contested("ada", at(0)).await;
    let patch = ProfilePatch { bio: Some(Some(Bio::parse("engines").unwrap())), ..handle("countess") };
    world.update_profile(update(user.id, patch)).await.unwrap();

    assert!(world.verifies(&key("ada"), mac(2), at(6)).await);

    for query in ["ada", "countess", "engines", "en"] {
        assert!(found(&world, query).await.is_empty(), "{query}");
    }
}

pub(super) async fn addresses_ids_and_private_fields_are_not_searched(world: World) {
    let metadata = AppMetadata::new(object(json!({"plan": "needle"}))).unwrap();
    let user = world.create(NewAccount { metadata, ..world.account("needle", at(0)) }).await;
    let patch = ProfilePatch {
        metadata: Some(Metadata::new(object(json!({"needle": "needle"}))).unwrap()),
        custom: object(json!({"needle": "needle"})),
        avatar_url: Some(Some(latchkey_domain::profile::AvatarUrl::parse("https://needle.example").unwrap())),
        ..named("Ada")
    };
    let profile = world.update_profile(update(user.id, patch)).await.unwrap();
    assert!(matches!(profile, latchkey_store::UpdateProfileOutcome::Updated(_)));

    for query in ["needle", "example.org", &user.id.to_string(), "turin"] {
        assert!(found(&world, query).await.is_empty(), "{query}");
    }
}
