//! Realms of a Keycloak export: which one is imported, and which attributes its users may write. Files name their realm
//! anywhere in them, so they are read for this first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::formats::{Format, OF_USERS};
use crate::input::Part;
use crate::read_error::ReadError;
use crate::source::{Bytes, Document, Outline, open};

/// Component of a realm with the attributes and who may write them.
const PROFILE: &str = "org.keycloak.userprofile.UserProfileProvider";
/// Setting of the component, a JSON document in a text.
const CONFIG: &str = "kc.user.profile.config";
/// Beginning of the settings in which earlier releases had the document in pieces.
const PIECES: &str = "config-piece";
/// Members of a realm that are read here.
const MEMBERS: [&str; 3] = ["realm", "keycloakVersion", "components"];
/// First release in which a realm says who may write attributes; before, users could write all.
const FIRST_WITH_PROFILES: u32 = 24;
/// Maximum number of documents of a file that an import chooses from; of the name of a realm, an error shows a part at most.
const MOST: usize = 30;
const LONGEST_NAME: usize = 64;

/// Which attributes users may write themselves.
#[derive(Default)]
pub(crate) enum Writable {
    /// None, or nobody knows.
    #[default]
    None,
    All,
    /// Those that are declared so, and the others if the flag says so.
    Declared(BTreeMap<String, bool>, bool),
}

/// A part of the export, with the realm that it names.
struct Found {
    part: Part,
    realm: Option<String>,
    has_users: bool,
}

/// Leaves the parts of the realm that is imported, and returns them with what its users may write.
pub(crate) fn choose(
    format: &'static Format,
    parts: Vec<Part>,
    wanted: Option<&str>,
) -> Result<(Vec<Part>, Writable), ReadError> {
    let (mut found, mut rules) = (Vec::new(), BTreeMap::new());
    for part in parts {
        read(format, part, wanted, &mut found, &mut rules)?;
    }
    let names = |found: &[Found], has_users: bool| -> BTreeSet<String> {
        let named = found.iter().filter(|one| one.has_users || !has_users);
        named.filter_map(|one| one.realm.clone()).collect()
    };
    let (all, with_users) = (names(&found, false), names(&found, true));
    let realm = match wanted {
        Some(wanted) if !all.contains(wanted) => {
            return Err(ReadError::NoRealm { realm: wanted.to_owned(), there: shown(&all) });
        }
        Some(wanted) => Some(wanted.to_owned()),
        None if with_users.len() > 1 => return Err(ReadError::Realms(shown(&with_users))),
        None => with_users.first().or_else(|| all.first().filter(|_| all.len() == 1)).cloned(),
    };
    let is_only = all.len() <= 1;
    let is_of_realm = |one: &Found| one.realm.as_ref().map_or(is_only, |name| Some(name) == realm.as_ref());
    let writable = rules.remove(realm.as_deref().unwrap_or_default()).unwrap_or_default();
    Ok((found.into_iter().filter(is_of_realm).map(|one| one.part).collect(), writable))
}

/// Adds the documents of a part. What users may write is kept of the wanted realm alone.
fn read(
    format: &'static Format,
    part: Part,
    wanted: Option<&str>,
    found: &mut Vec<Found>,
    rules: &mut BTreeMap<String, Writable>,
) -> Result<(), ReadError> {
    open(format, &part)?; // a file of another kind is told here
    let mut bytes = Bytes::new(part.content.open());
    if !matches!(bytes.skip_blanks()?, Some(b'{' | b'[')) {
        found.push(Found { part, realm: None, has_users: true });
        return Ok(());
    }
    let (before, of_file) = (found.len(), realm_of_file(&part));
    let (mut ours, mut others) = (0, 0);
    let outlined = Document::new(bytes, format.names.to_vec()).outline(&MEMBERS, |outline| {
        let realm = text(&outline, "realm");
        if outline.number.is_some() && realm.is_none() && !outline.has_table {
            return; // an account
        }
        let realm = realm.or_else(|| of_file.clone());
        let is_wanted = wanted.is_none_or(|wanted| realm.as_deref() == Some(wanted));
        let count = if is_wanted { &mut ours } else { &mut others };
        *count += 1;
        if *count > MOST {
            return;
        }
        let key = realm.clone().unwrap_or_default();
        if let Some(writable) = writable(&outline).filter(|_| is_wanted) {
            rules.insert(key, writable);
        } else if is_wanted && outline.is_torn && of_file.is_none() {
            rules.entry(key).or_insert(Writable::All); // the rest might have allowed it
        }
        let part = Part { document: outline.number, ..part.clone() };
        found.push(Found { part, realm, has_users: outline.has_table });
    });
    // Accounts of a broken file are read as far as it goes, and the break is told there. Of an array of realms those after the
    // break would vanish.
    if found[before..].iter().any(|one| one.part.document.is_some()) {
        outlined?;
    }
    if ours > MOST || rules.len() > MOST {
        let names = found.iter().filter_map(|one| one.realm.clone()).collect();
        return Err(ReadError::Realms(shown(&names)));
    }
    if found.len() == before {
        found.push(Found { part, realm: of_file, has_users: true }); // a list of accounts
    }
    Ok(())
}

/// Returns the realm that the name of a file says: NAME-users-0.json.
fn realm_of_file(part: &Part) -> Option<String> {
    let (name, number) = part.file.as_ref()?.strip_suffix(".json")?.rsplit_once("-users-")?;
    number.parse::<u32>().ok().map(|_| name.to_owned())
}

fn shown(names: &BTreeSet<String>) -> String {
    let name = |name: &String| format!("{:?}", name.chars().take(LONGEST_NAME).collect::<String>());
    names.iter().take(MOST).map(name).collect::<Vec<_>>().join(", ")
}

fn member<'o>(outline: &'o Outline, name: &str) -> Option<&'o [u8]> {
    outline.members.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_slice())
}

fn text(outline: &Outline, name: &str) -> Option<String> {
    serde_json::from_slice(member(outline, name)?).ok()
}

/// Returns what users may write by the document of a realm; `None` if it does not say. What says it and cannot be read
/// might allow everything.
fn writable(outline: &Outline) -> Option<Writable> {
    let Some(components) = member(outline, "components") else { return by_version(outline) };
    let Ok(mut components) = serde_json::from_slice::<Map<String, Value>>(components) else {
        return Some(Writable::All);
    };
    let Some(component) = components.remove(PROFILE) else { return by_version(outline) };
    let config = component.get(0).and_then(|one| one.get("config"));
    let Some(setting) = config.and_then(|config| config.get(CONFIG)) else {
        let has_pieces = |config: &Map<String, Value>| config.keys().any(|key| key.starts_with(PIECES));
        let is_unread = config.and_then(Value::as_object).is_some_and(has_pieces);
        return Some(if is_unread { Writable::All } else { Writable::None });
    };
    let setting = setting.get(0).unwrap_or(setting).as_str();
    Some(setting.and_then(declared).unwrap_or(Writable::All))
}

fn by_version(outline: &Outline) -> Option<Writable> {
    let major = text(outline, "keycloakVersion")?.split('.').next()?.parse::<u32>().ok()?;
    (major < FIRST_WITH_PROFILES).then_some(Writable::All)
}

/// Reads the document of the component.
fn declared(text: &str) -> Option<Writable> {
    let profile = serde_json::from_str::<Map<String, Value>>(text).ok()?;
    let attributes =
        profile.get("attributes").map_or(Some(&[][..]), |list| list.as_array().map(Vec::as_slice))?;
    let is_written = |attribute: &Value| {
        let editors = attribute.get("permissions")?.get("edit")?.as_array()?;
        Some(editors.iter().any(|editor| editor == "user"))
    };
    let named =
        |one: &Value| Some((one.get("name")?.as_str()?.to_owned(), is_written(one).unwrap_or_default()));
    let are_others_written =
        profile.get("unmanagedAttributePolicy").is_some_and(|policy| policy == "ENABLED");
    Some(Writable::Declared(attributes.iter().filter_map(named).collect(), are_others_written))
}

impl Writable {
    fn has(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Declared(declared, others) => *declared.get(name).unwrap_or(others),
        }
    }

    /// Moves the attributes that users may write out of those that only admins do.
    pub(crate) fn split(&self, user: &mut Map<String, Value>) {
        user.remove(OF_USERS);
        let Some(Value::Object(attributes)) = user.get_mut("attributes") else { return };
        let (own, others): (Map<_, _>, Map<_, _>) =
            std::mem::take(attributes).into_iter().partition(|(name, _)| self.has(name));
        *attributes = others;
        if !own.is_empty() {
            user.insert(OF_USERS.to_owned(), own.into());
        }
    }
}
