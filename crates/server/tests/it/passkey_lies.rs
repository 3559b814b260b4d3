//! False statements of a browser or an authenticator, each with what it is, shared by several test files.

use std::ops::DerefMut;

use latchkey_testkit::passkeys::{Statement, cbor, ed25519_key, flags, modulus_of, p256_key, rsa_key};
use latchkey_testkit::{Assertion, Creation, Value, json};

/// Change to an honest response.
pub(crate) type Lie<T> = (&'static str, Box<dyn FnOnce(&mut T) + Send>);

fn lie<T>(what: &'static str, change: impl FnOnce(&mut T) + Send + 'static) -> Lie<T> {
    (what, Box::new(change))
}

/// Lies that either response can tell. `other_kind` is the type of the other one.
fn of_either(other_kind: &'static str) -> Vec<Lie<Statement>> {
    vec![
        lie("type of the other ceremony", move |it: &mut Statement| it.client["type"] = json!(other_kind)),
        lie("type of a payment", |it: &mut Statement| it.client["type"] = json!("payment.get")),
        lie("challenge of somebody else", |it: &mut Statement| {
            it.client["challenge"] = json!("A".repeat(43));
        }),
        lie("challenge with padding", |it: &mut Statement| {
            it.client["challenge"] = json!(format!("{}=", it.client["challenge"].as_str().unwrap()));
        }),
        lie("no challenge", |it: &mut Statement| it.client["challenge"] = json!(null)),
        lie("origin of a stranger", |it: &mut Statement| it.client["origin"] = json!("https://evil.example")),
        lie("origin that begins alike", |it: &mut Statement| {
            it.client["origin"] = json!("http://localhost.evil.example");
        }),
        lie("origin of an address", |it: &mut Statement| {
            it.client["origin"] = json!("http://127.0.0.1:8700");
        }),
        lie("origin with a path", |it: &mut Statement| it.client["origin"] = json!("http://localhost:8700/")),
        lie("origin in upper case", |it: &mut Statement| {
            it.client["origin"] = json!("HTTP://LOCALHOST:8700");
        }),
        lie("origin null", |it: &mut Statement| it.client["origin"] = json!("null")),
        lie("frame of another origin", |it: &mut Statement| it.client["crossOrigin"] = json!(true)),
        lie("top origin", |it: &mut Statement| it.client["topOrigin"] = json!("http://localhost:8700")),
        lie("crossOrigin in text", |it: &mut Statement| it.client["crossOrigin"] = json!("false")),
        lie("client data empty", |it: &mut Statement| it.client_bytes = Some(Vec::new())),
        lie("client data no JSON", |it: &mut Statement| it.client_bytes = Some(b"{\"type\":".to_vec())),
        lie("client data a list", |it: &mut Statement| it.client_bytes = Some(b"[]".to_vec())),
        lie("client data longer than 4,096 bytes", |it: &mut Statement| {
            it.client["padding"] = json!("p".repeat(4_096));
        }),
        lie("client data with a key twice", |it: &mut Statement| {
            let once = it.client.to_string();
            it.client_bytes = Some(once.replacen('{', "{\"crossOrigin\":false,", 1).into_bytes());
        }),
        lie("relying party of another domain", |it: &mut Statement| "example.org".clone_into(&mut it.rp_id)),
        lie("relying party below", |it: &mut Statement| "app.localhost".clone_into(&mut it.rp_id)),
        lie("user not present", |it: &mut Statement| it.flags &= !flags::UP),
        lie("user not verified", |it: &mut Statement| it.flags &= !flags::UV),
        lie("backed up but not eligible", |it: &mut Statement| {
            it.flags = it.flags & !flags::BE | flags::BS;
        }),
        lie("extensions announced but missing", |it: &mut Statement| it.flags |= flags::ED),
        lie("bytes left over", |it: &mut Statement| it.appendix = vec![0]),
        lie("extensions that nobody announced", |it: &mut Statement| it.appendix = vec![0xa0]),
    ]
}

/// Lies of a response that are those of its statement.
fn in_statements<T: DerefMut<Target = Statement> + 'static>(lies: Vec<Lie<Statement>>) -> Vec<Lie<T>> {
    lies.into_iter().map(|(what, change)| lie(what, move |it: &mut T| change(it))).collect()
}

/// Lies in a registration by a security key.
pub(crate) fn of_registrations() -> Vec<Lie<Creation>> {
    let mut lies: Vec<Lie<Creation>> = in_statements(of_either("webauthn.get"));
    lies.extend(lies_about_keys());
    lies.extend([
        lie("no credential", |it: &mut Creation| it.flags &= !flags::AT),
        lie("other id beside the response", |it: &mut Creation| it.passkey.credential_id = vec![9; 32]),
        lie("id of no bytes", |it: &mut Creation| it.attested_id.clear()),
        lie("id of 1,024 bytes", |it: &mut Creation| it.attested_id = vec![7; 1_024]),
        lie("object empty", |it: &mut Creation| it.object = Some(Vec::new())),
        lie("object cut", |it: &mut Creation| {
            let mut object = it.attestation_object();
            object.pop();
            it.object = Some(object);
        }),
        lie("object with a byte more", |it: &mut Creation| {
            it.object = Some([it.attestation_object(), vec![0]].concat());
        }),
        lie("object of indefinite length", |it: &mut Creation| {
            let object = it.attestation_object();
            it.object = Some([&[0xbf][..], &object[1..], &[0xff]].concat());
        }),
        lie("object without a statement", |it: &mut Creation| {
            let data = (cbor::text("authData"), cbor::bytes(&it.authenticator_data()));
            it.object = Some(cbor::map(&[(cbor::text("fmt"), cbor::text("none")), data]));
        }),
        lie("statement nested deeply", |it: &mut Creation| {
            it.attestation.1 = [vec![0x81; 1_000], vec![0x80]].concat();
        }),
        lie("object longer than 16,384 bytes", |it: &mut Creation| {
            it.attestation.1 = cbor::bytes(&vec![0; 16_400]);
        }),
        lie("data in place of bytes is text", |it: &mut Creation| {
            let object = it.attestation_object();
            it.object = Some(object.iter().map(|byte| if *byte == 0x58 { 0x78 } else { *byte }).collect());
        }),
    ]);
    lies
}

fn lies_about_keys() -> Vec<Lie<Creation>> {
    let ec = |x: &[u8], y: &[u8]| p256_key(x, y);
    let keys = [
        ("algorithm that was not offered", cbor::cose(&[(1, cbor::integer(2)), (3, cbor::integer(-35))])),
        ("RSA of 1,024 bits", rsa_key(&modulus_of(1_024), &[1, 0, 1])),
        ("RSA of 2,047 bits", rsa_key(&modulus_of(2_047), &[1, 0, 1])),
        ("RSA of 4,097 bits", rsa_key(&modulus_of(4_097), &[1, 0, 1])),
        ("RSA of 16,384 bits", rsa_key(&modulus_of(16_384), &[1, 0, 1])),
        ("RSA with an even modulus", rsa_key(&[0xa4; 256], &[1, 0, 1])),
        ("RSA with exponent 1", rsa_key(&modulus_of(2_048), &[1])),
        ("RSA with exponent 3", rsa_key(&modulus_of(2_048), &[3])),
        ("RSA with exponent 0", rsa_key(&modulus_of(2_048), &[0])),
        ("RSA with an even exponent", rsa_key(&modulus_of(2_048), &[1, 0, 0])),
        ("RSA with a padded exponent", rsa_key(&modulus_of(2_048), &[0, 1, 0, 1])),
        ("RSA with a long exponent", rsa_key(&modulus_of(2_048), &[1; 256])),
        ("point off P-256", ec(&[1; 32], &[1; 32])),
        ("point at the origin of P-256", ec(&[0; 32], &[0; 32])),
        ("coordinate above the field of P-256", ec(&[0xff; 32], &[0xff; 32])),
        ("coordinate too short", ec(&[1; 31], &[1; 32])),
        ("point off Ed25519", ed25519_key(&[[2].as_slice(), &[0; 31]].concat())),
        ("neutral point of Ed25519", ed25519_key(&[[1].as_slice(), &[0; 31]].concat())),
        ("point of small order on Ed25519", ed25519_key(&[0; 32])),
        ("point of Ed25519 too long", ed25519_key(&[3; 57])),
        ("key of no labels", cbor::cose(&[])),
        ("key that is no map", vec![0x80]),
        ("key that ends early", vec![0xa5, 0x01]),
        ("no key", Vec::new()),
    ];
    keys.into_iter().map(|(what, key)| lie(what, move |it: &mut Creation| it.key = key)).collect()
}

/// Lies in an assertion by a security key. All but those of the signature are signed.
pub(crate) fn of_assertions() -> Vec<Lie<Assertion>> {
    let mut lies: Vec<Lie<Assertion>> = in_statements(of_either("webauthn.create"));
    lies.extend([
        lie("no user handle", |it: &mut Assertion| it.user_handle = None),
        lie("other user handle", |it: &mut Assertion| it.user_handle = Some(vec![7; 16])),
        lie("user handle of no bytes", |it: &mut Assertion| it.user_handle = Some(Vec::new())),
        lie("user handle too short", |it: &mut Assertion| it.user_handle = Some(vec![7; 15])),
        lie("user handle of 64 bytes", |it: &mut Assertion| it.user_handle = Some(vec![7; 64])),
        lie("no signature", |it: &mut Assertion| it.signature = Some(Vec::new())),
        lie("signature of zeros", |it: &mut Assertion| it.signature = Some(vec![0; 70])),
        lie("signature of the greatest length", |it: &mut Assertion| it.signature = Some(vec![1; 512])),
        lie("signature beyond it", |it: &mut Assertion| it.signature = Some(vec![1; 40_000])),
        lie("credential in an assertion", |it: &mut Assertion| {
            it.flags |= flags::AT;
            it.appendix = [vec![0; 16], vec![0, 1, 7], ed25519_key(&[3; 32])].concat();
        }),
        lie("data longer than 1,024 bytes", |it: &mut Assertion| it.appendix = vec![0; 1_000]),
    ]);
    lies
}

/// Credentials without the shape of a response, made from a good one. `members` are those of `response`.
pub(crate) fn shapes_of(good: &Value, members: &[&str]) -> Vec<(String, Value)> {
    let mut shapes: Vec<_> = [json!(null), json!("x"), json!([]), json!({}), json!(7)]
        .into_iter()
        .map(|credential| (credential.to_string(), credential))
        .collect();
    let mut without = |what: String, change: &dyn Fn(&mut Value)| {
        let mut credential = good.clone();
        change(&mut credential);
        shapes.push((what, credential));
    };
    for wrong in [None, Some(json!(null)), Some(json!(7)), Some(json!("not base64url!")), Some(json!("YQ=="))]
    {
        for (parent, member) in members.iter().map(|name| ("/response", *name)).chain([("", "rawId")]) {
            without(format!("{member} as {wrong:?}"), &|credential| {
                let parent = credential.pointer_mut(parent).unwrap().as_object_mut().unwrap();
                match wrong.clone() {
                    None => drop(parent.remove(member)),
                    Some(wrong) => drop(parent.insert(member.to_owned(), wrong)),
                }
            });
        }
    }
    without("no response".to_owned(), &|credential| {
        drop(credential.as_object_mut().unwrap().remove("response"));
    });
    without("response a text".to_owned(), &|credential| credential["response"] = json!("x"));
    without("other id than rawId".to_owned(), &|credential| credential["id"] = json!("AAAA"));
    without("no id".to_owned(), &|credential| drop(credential.as_object_mut().unwrap().remove("id")));
    without("other type".to_owned(), &|credential| credential["type"] = json!("password"));
    shapes
}
