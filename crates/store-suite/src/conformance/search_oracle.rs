//! Test of the search against a reference: profiles and queries in many scripts are random. Each result is compared
//! with a full scan by [`latchkey_domain::search::matches`], while profiles are edited, deleted, banned and created.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::page::Page;
use latchkey_domain::profile::{Bio, Name, Profile, ProfilePatch, Username};
use latchkey_domain::search::{SearchQuery, SearchText, matches};

use super::fixtures::{World, at};
use super::profiles::update;
use super::random::Random;
use latchkey_store::{UpdateProfileOutcome, UpdateUser};

const PROFILES: usize = 120;
const ROUNDS: usize = 4;
const QUERIES: usize = 120;

/// Fragments from which words are made. They are few, so that they often match, and cover each kind of text
/// that is difficult to fold (normalise) or to index.
const PIECES: &[&str] = &[
    "a",
    "A",
    "b",
    "ab",
    "ba",
    "á",
    "E\u{301}",
    "ß",
    "ẞ",
    "ss",
    "ﬁ",
    "fi",
    "İ",
    "ı",
    "i",
    "Σ",
    "ς",
    "σ",
    "ж",
    "Ё",
    "е",
    "計",
    "算",
    "機",
    "한",
    "ᄒ",
    "ｶﾞ",
    "का",
    "ि",
    "🙂",
    "👩\u{200D}💻",
    "𝔞",
    "𝒳",
    "\u{200B}",
    "\u{301}",
    "%",
    "_",
    "*",
    "\"",
    "'",
    "-",
    "(",
    ":",
    "0",
    "①",
    "ﷺ",
    "\u{AD}",
    ".",
    "\\",
];
const SPACES: &[&str] = &[" ", "  ", "\u{A0}", "\u{3000}", "\u{2003}"];
const HANDLES: &[&str] = &["a", "b", "ab", "ba", "_", ".", "-", "0", "fi", "ss"];

fn text(random: &mut Random, words: usize, pieces: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.below(words + 1) {
        for _ in 0..=random.below(pieces) {
            text.push_str(random.pick(PIECES));
        }
        text.push_str(random.pick(SPACES));
    }
    text
}

fn username(random: &mut Random, number: usize) -> Option<Username> {
    let mut text = String::new();
    for _ in 0..random.below(5) {
        text.push_str(random.pick(HANDLES));
    }
    Username::parse(&format!("{text}{number}")).ok()
}

fn patch(random: &mut Random, number: usize) -> ProfilePatch {
    ProfilePatch {
        name: Some(Name::parse(&text(random, 3, 4)).unwrap()),
        username: Some(username(random, number)),
        bio: Some(Some(Bio::parse(&text(random, 6, 5)).unwrap())),
        ..ProfilePatch::default()
    }
}

/// Random query, made of fragments or of a substring of a profile's text.
fn query(random: &mut Random, profiles: &[Profile]) -> Option<SearchQuery> {
    let text = if random.below(2) == 0 || profiles.is_empty() {
        text(random, 2, 2)
    } else {
        let profile = &profiles[random.below(profiles.len())];
        let bio = profile.bio.as_ref().map_or("", Bio::as_str);
        let username = profile.username.as_ref().map_or("", Username::as_str);
        let source: Vec<char> = random.pick(&[profile.name.as_str(), bio, username]).chars().collect();
        let start = random.below(source.len() + 1);
        let end = (start + 1 + random.below(8)).min(source.len());
        source[start..end].iter().collect()
    };
    SearchQuery::parse(&text).ok()
}

/// Expected matches in order, by a full scan.
fn expected(query: &SearchQuery, profiles: &[Profile]) -> Vec<Profile> {
    let mut hits: Vec<_> = profiles
        .iter()
        .filter_map(|profile| {
            let username = profile.username.as_ref().map(Username::as_str);
            let text = SearchText::of(profile.name.as_str(), username, profile.bio.as_ref().map(Bio::as_str));
            Some((matches(query, &text)?, profile.clone()))
        })
        .collect();
    hits.sort_by(|(a_tier, a), (b_tier, b)| {
        a_tier.cmp(b_tier).then(b.created_at.cmp(&a.created_at)).then(b.id.cmp(&a.id))
    });
    hits.into_iter().map(|(_, profile)| profile).collect()
}

/// Creates a user with a profile. Some users have the same creation time.
async fn make(world: &World, random: &mut Random, number: usize) -> Profile {
    let now = at(i64::try_from(number / 3).unwrap());
    let user = world.verified(&format!("n{number}"), now).await;
    edit(world, random, &world.find_profile(user.id).await.unwrap().unwrap(), number).await
}

async fn edit(world: &World, random: &mut Random, profile: &Profile, number: usize) -> Profile {
    match world.update_profile(update(profile.user_id, patch(random, number))).await.unwrap() {
        UpdateProfileOutcome::Updated(profile) => *profile,
        other => panic!("{other:?}"),
    }
}

/// Edits, deletes and bans some profiles, and creates others.
async fn stir(world: &World, random: &mut Random, profiles: &mut Vec<Profile>, round: usize) {
    for turn in 0..12 {
        let at_random = random.below(profiles.len());
        let number = 1_000 * (round + 1) + turn;
        match turn % 6 {
            0 => {
                let gone = profiles.swap_remove(at_random);
                world.delete(&[gone.user_id], vec![world.event(AuditKind::UserDeleted, at(9))]).await;
            }
            1 => {
                let gone = profiles.swap_remove(at_random);
                assert!(world.deletes_profile(gone.user_id, at(9)).await);
            }
            2 => {
                let gone = profiles.swap_remove(at_random);
                let ban = UpdateUser { banned: Some(true), ..world.change(gone.user_id, at(9)) };
                world.update_user(ban).await.unwrap();
            }
            3 => profiles.push(make(world, random, number).await),
            _ => profiles[at_random] = edit(world, random, &profiles[at_random], number).await,
        }
    }
}

pub(super) async fn search_agrees_with_its_definition(world: World) {
    let mut random = Random::new(7);
    let mut profiles = Vec::new();
    for number in 0..PROFILES {
        profiles.push(make(&world, &mut random, number).await);
    }
    for round in 0..ROUNDS {
        for _ in 0..QUERIES {
            let Some(query) = query(&mut random, &profiles) else { continue };
            let expected = expected(&query, &profiles);
            let offset = random.below(expected.len() + 3);
            let page = Page::new(10, u64::try_from(offset).unwrap());
            let hits = world.search_profiles(&query, page).await.unwrap();

            let page: Vec<_> = expected.iter().skip(offset).take(10).cloned().collect();
            assert_eq!(
                hits.total,
                u64::try_from(expected.len()).unwrap(),
                "{:?} at {offset}",
                query.folded()
            );
            assert_eq!(hits.profiles, page, "{:?} at {offset}", query.folded());
        }
        stir(&world, &mut random, &mut profiles, round).await;
    }
}
