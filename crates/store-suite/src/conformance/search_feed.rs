//! Cases of the search feed, from which a process updates its search index: reading all entries once and
//! every change afterwards gives the same result as a full scan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::{Metadata, ProfilePatch};
use latchkey_domain::search::SearchText;
use serde_json::json;

use super::fixtures::{DAY, RACERS, World, at, key, mac, object};
use super::profiles::{handle, named, update};
use latchkey_store::{FeedPosition, FeedRead, SearchChange, SearchEntry, UpdateUser};

/// Consumer of the change feed, with its copy of the entries.
struct Follower {
    world: World,
    position: FeedPosition,
    known: BTreeMap<ProfileId, SearchText>,
}

impl Follower {
    async fn new(world: &World) -> Self {
        let position = world.search_position().await.unwrap();
        let known = listed(world, 2).await;
        Self { world: world.clone(), position, known }
    }

    /// Reads and applies the next changes, and returns them.
    async fn follow(&mut self) -> Vec<SearchChange> {
        let mut all = Vec::new();
        loop {
            let read = self.world.list_search_changes(&self.position).await.unwrap();
            let FeedRead::Changes { changes, position, has_more } = read else {
                panic!("the position is new")
            };
            self.position = position;
            for change in &changes {
                match change {
                    SearchChange::Shown(entry) => self.known.insert(entry.id, entry.text.clone()),
                    SearchChange::Hidden { id, .. } => self.known.remove(id),
                };
            }
            all.extend(changes);
            if !has_more {
                return all;
            }
        }
    }
}

/// Reads all entries of the search index, in pages of this size.
async fn listed(world: &World, limit: u32) -> BTreeMap<ProfileId, SearchText> {
    let mut all = BTreeMap::new();
    let mut last = None;
    loop {
        let page = world.list_search_entries(last, limit).await.unwrap();
        assert!(page.windows(2).all(|pair| pair[0].id < pair[1].id));
        last = page.last().map(|entry| entry.id).or(last);
        let count = page.len();
        all.extend(page.into_iter().map(|entry| (entry.id, entry.text)));
        if count == 0 {
            return all;
        }
    }
}

fn shown(change: &[SearchChange]) -> &SearchEntry {
    match change {
        [SearchChange::Shown(entry)] => entry,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn changes_of_visible_profiles_are_delivered(world: World) {
    let mut follower = Follower::new(&world).await;
    assert_eq!(follower.follow().await, []);

    let user = world.verified("ada", at(0)).await;
    let profile = world.find_profile(user.id).await.unwrap().unwrap();
    let entry = shown(&follower.follow().await).clone();
    assert_eq!((entry.id, entry.created_at), (profile.id, profile.created_at));
    assert_eq!(entry.text.name, "ada");

    world.update_profile(update(user.id, named("Ada King"))).await.unwrap();
    world.update_profile(update(user.id, handle("countess"))).await.unwrap();
    let entry = shown(&follower.follow().await).clone();
    assert_eq!((entry.text.name.as_str(), entry.text.username.as_str()), ("ada king", "countess"));
    assert_eq!(follower.follow().await, []);

    let metadata = Metadata::new(object(json!({"a": 1}))).unwrap();
    let private = ProfilePatch { metadata: Some(metadata), ..ProfilePatch::default() };
    world.update_profile(update(user.id, private)).await.unwrap();
    assert_eq!(follower.follow().await, []);
}

pub(super) async fn banned_deleted_and_pending_users_are_hidden(world: World) {
    let mut follower = Follower::new(&world).await;
    let user = world.verified("ada", at(0)).await;
    let profile = world.find_profile(user.id).await.unwrap().unwrap();
    let hidden = SearchChange::Hidden { id: profile.id, created_at: profile.created_at };
    follower.follow().await;

    world.ban(user.id, at(1)).await;
    assert_eq!(follower.follow().await, std::slice::from_ref(&hidden));
    world.update_user(UpdateUser { banned: Some(false), ..world.change(user.id, at(2)) }).await.unwrap();
    assert_eq!(shown(&follower.follow().await).id, profile.id);

    assert!(world.deletes_profile(user.id, at(3)).await);
    assert_eq!(follower.follow().await, [hidden]);

    let other = world.verified("bo", at(4)).await;
    follower.follow().await;
    world.delete(&[other.id], vec![world.event(AuditKind::UserDeleted, at(5))]).await;
    assert!(matches!(follower.follow().await[..], [SearchChange::Hidden { .. }]));

    world.pending("carl", at(6)).await;
    assert_eq!(follower.follow().await, []);
    world.verify(&key("carl"), mac(1), at(7)).await;
    assert_eq!(follower.known.len(), 0);
    follower.follow().await;
    assert_eq!(follower.known.len(), 1);
}

pub(super) async fn a_new_consumer_reads_all_entries(world: World) {
    for number in 0..7 {
        world.verified(&format!("n{number}"), at(number)).await;
    }
    let banned = world.verified("banned", at(9)).await;
    world.ban(banned.id, at(10)).await;
    world.pending("pending", at(11)).await;

    let mut follower = Follower::new(&world).await;
    assert_eq!(follower.known.len(), 7);
    assert_eq!(listed(&world, 100).await, follower.known);
    assert_eq!(follower.follow().await, []);
}

pub(super) async fn found_profiles_come_in_the_order_of_the_ids(world: World) {
    let mut profiles = Vec::new();
    for name in ["ada", "bo", "carl"] {
        let user = world.verified(name, at(0)).await;
        profiles.push(world.find_profile(user.id).await.unwrap().unwrap());
    }
    world.ban(profiles[1].user_id, at(1)).await;
    let gone = world.profile("gone", at(2)).id;

    let asked = [profiles[2].id, gone, profiles[1].id, profiles[0].id];
    let found = world.list_found_profiles(&asked).await.unwrap();
    assert_eq!(found, [profiles[2].clone(), profiles[0].clone()]);
    assert_eq!(world.list_found_profiles(&[]).await.unwrap(), []);
}

pub(super) async fn a_cursor_of_another_database_is_lost(world: World) {
    world.verified("ada", at(0)).await;
    let elsewhere = FeedPosition("elsewhere".to_owned());
    assert_eq!(world.list_search_changes(&elsewhere).await.unwrap(), FeedRead::Lost);
}

pub(super) async fn a_consumer_away_for_days_is_lost_or_misses_nothing(world: World) {
    let away = Follower::new(&world).await;
    let mut follower = Follower::new(&world).await;
    let user = world.verified("ada", at(0)).await.id;
    world.purge(at(1)).await.unwrap();
    follower.follow().await;
    world.update_profile(update(user, named("Ada King"))).await.unwrap();

    world.purge(at(DAY)).await.unwrap();
    assert!(matches!(world.list_search_changes(&away.position).await.unwrap(), FeedRead::Changes { .. }));
    world.purge(at(DAY + 1)).await.unwrap();
    // An engine may retain changes longer under concurrent writes, but must not skip any.
    match world.list_search_changes(&away.position).await.unwrap() {
        FeedRead::Lost => {}
        FeedRead::Changes { changes, .. } => assert_eq!(shown(&changes).text.name, "ada king"),
    }

    assert_eq!(shown(&follower.follow().await).text.name, "ada king");
    world.purge(at(3 * DAY)).await.unwrap();
    assert_eq!(follower.follow().await, []);
    world.update_profile(update(user, named("Countess"))).await.unwrap();
    assert_eq!(shown(&follower.follow().await).text.name, "countess");
}

/// Concurrent edits, between which a consumer reads in every order.
pub(super) async fn a_consumer_misses_nothing_during_concurrent_writes(world: World) {
    let mut users = Vec::new();
    for number in 0..RACERS {
        users.push(world.verified(&format!("n{number}"), at(0)).await.id);
    }
    let mut follower = Follower::new(&world).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let ending = Arc::clone(&is_over);
    let following = tokio::spawn(async move {
        while !ending.load(Ordering::SeqCst) {
            follower.follow().await;
            tokio::task::yield_now().await;
        }
        follower
    });

    let writers = users.iter().enumerate().map(|(number, &user)| {
        let world = world.clone();
        tokio::spawn(async move {
            for turn in 0..20 {
                world.update_profile(update(user, named(&format!("t{turn}")))).await.unwrap();
                let name = format!("made-{number}-{turn}");
                world.create(world.account(&name, at(turn))).await;
            }
            if number % 2 == 0 {
                world.delete(&[user], vec![world.event(AuditKind::UserDeleted, at(9))]).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    is_over.store(true, Ordering::SeqCst);
    let mut follower = following.await.unwrap();
    follower.follow().await;
    assert_eq!(follower.known, listed(&world, 100).await);
    assert_eq!(follower.known.len(), RACERS / 2 + RACERS * 20);
}
