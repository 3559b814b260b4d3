//! `/auth/account/profile`: the public profile of the own account. A change made elsewhere in the meantime is shown beside
//! the entered one.

use axum::routing::get;
use latchkey_domain::profile::{
    AvatarUrl, Bio, InvalidAvatarUrl, InvalidUsername, LONGEST_AVATAR_URL, LONGEST_BIO, LONGEST_NAME,
    Profile, ProfilePatch, Username,
};
use latchkey_domain::text::InvalidText;
use latchkey_pages::views::{Conflict, Profile as View, ProfileFields};
use latchkey_service::Error;
use latchkey_service::profiles::Missing;
use latchkey_service::refusal::{PRECONDITION_FAILED, PROFILE_NOT_FOUND};
use latchkey_service::sessions::PageSession;

use super::{confirm, to_sign_in};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/profile";
/// Maximum length of a username, which the domain has in its rule alone.
const LONGEST_USERNAME: u64 = 32;
/// Hidden field with the version of the profile that the form changes; empty for a new profile.
const VERSION: &str = "version";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    if let Some(version) = confirm::kept(&visit, VERSION) {
        return visit.page(&view(&visit, version, kept(&visit), None));
    }
    let profile = own(&visit, session).await?;
    visit.page(&view(&visit, version_of(profile.as_ref()), fields_of(profile), None))
}

async fn act(Submission { visit, mut fields }: Submission) -> Outcome {
    let Some(session) = &visit.session else { return confirm::late(visit, &fields, PATH) };
    let rejection = match save(&visit, session, &mut fields).await {
        Ok(()) => return visit.go_to(&visit.href_with(PATH, &[("notice", "saved")])),
        Err(rejection) => rejection,
    };
    let (mut version, mut conflict) = (fields.text(VERSION)?, None);
    if rejection.is(PRECONDITION_FAILED.name) {
        let stored = own(&visit, session).await?;
        version = version_of(stored.as_ref());
        conflict = Some(Conflict { stored: fields_of(stored), discard: visit.href(PATH) });
    }
    let view = view(&visit, version, typed(&fields)?, conflict);
    confirm::refuse(visit, &fields, rejection, &view).await
}

/// Stores the entered profile, if no other change was stored since the form was shown.
async fn save(visit: &Visit, session: &PageSession, fields: &mut Fields) -> Result<(), Rejection> {
    let username = |text: &str| Username::parse(text.trim()).map_err(InvalidUsername::reason);
    let avatar_url = |text: &str| AvatarUrl::parse(text.trim()).map_err(InvalidAvatarUrl::reason);
    let patch = ProfilePatch {
        name: Some(fields.name("name")?.unwrap_or_default()),
        username: Some(fields.optional("username", username)?),
        bio: Some(fields.optional("bio", |text| Bio::parse(text).map_err(InvalidText::reason))?),
        avatar_url: Some(fields.optional("avatar_url", avatar_url)?),
        ..ProfilePatch::default()
    };
    if fields.has_problems() {
        return Err(fields.rejection());
    }
    let version = fields.text(VERSION)?.parse().ok();
    let if_version = match version {
        None if own(visit, session).await?.is_none() => None,
        version => Some(version.into_iter().collect()),
    };
    let caller = visit.service().sessions.named_caller(session).await?;
    visit.service().profiles.update(caller, patch, if_version, Missing::Create).await?;
    Ok(())
}

/// Returns the profile of the account; `None` if it has none.
pub(super) async fn own(visit: &Visit, session: &PageSession) -> Result<Option<Profile>, PageError> {
    match visit.service().profiles.own(session).await {
        Ok(profile) => Ok(Some(profile)),
        Err(Error::Refused(refusal)) if *refusal == PROFILE_NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn version_of(profile: Option<&Profile>) -> String {
    profile.map(|profile| profile.version.to_string()).unwrap_or_default()
}

fn fields_of(profile: Option<Profile>) -> ProfileFields {
    let Some(profile) = profile else { return ProfileFields::default() };
    ProfileFields {
        name: profile.name.into_string(),
        username: profile.username.map(Username::into_string).unwrap_or_default(),
        bio: profile.bio.map(Bio::into_string).unwrap_or_default(),
        avatar_url: profile.avatar_url.map(AvatarUrl::into_string).unwrap_or_default(),
    }
}

/// Returns what was typed into the form before its session ended.
fn kept(visit: &Visit) -> ProfileFields {
    let [name, username, bio, avatar_url] = ["name", "username", "bio", "avatar_url"]
        .map(|field| confirm::kept(visit, field).unwrap_or_default());
    ProfileFields { name, username, bio, avatar_url }
}

fn typed(fields: &Fields) -> Result<ProfileFields, PageError> {
    Ok(ProfileFields {
        name: fields.text("name")?,
        username: fields.text("username")?,
        bio: fields.text("bio")?,
        avatar_url: fields.text("avatar_url")?,
    })
}

fn view(visit: &Visit, version: String, fields: ProfileFields, conflict: Option<Conflict>) -> View {
    View {
        form: visit.form(PATH),
        version,
        fields,
        longest_name: LONGEST_NAME as u64,
        longest_username: LONGEST_USERNAME,
        longest_bio: LONGEST_BIO as u64,
        longest_avatar_url: LONGEST_AVATAR_URL as u64,
        conflict,
    }
}
