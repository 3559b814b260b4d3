use proptest::prelude::*;

use super::*;

const PUBLIC: Networks = Networks { loopback: false, private: false };
const DEVELOPMENT: Networks = Networks { loopback: true, private: false };
const PRIVATE: Networks = Networks { loopback: false, private: true };

fn allows(networks: Networks, address: &str) -> bool {
    networks.allow(address.parse().unwrap())
}

#[test]
fn public_addresses_are_allowed() {
    for address in ["8.8.8.8", "1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"] {
        assert!(allows(PUBLIC, address), "{address}");
    }
}

#[test]
fn loopback_is_allowed_in_development_and_with_private_networks() {
    for address in ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"] {
        assert!(!allows(PUBLIC, address), "{address}");
        assert!(allows(DEVELOPMENT, address), "{address}");
        assert!(allows(PRIVATE, address), "{address}");
    }
}

#[test]
fn private_networks_are_allowed_only_by_configuration() {
    for address in [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "198.18.0.1",
        "fc00::1",
        "fd12:3456::1",
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
    ] {
        assert!(!allows(PUBLIC, address), "{address}");
        assert!(!allows(DEVELOPMENT, address), "{address}");
        assert!(allows(PRIVATE, address), "{address}");
    }
}

#[test]
fn metadata_link_local_and_reserved_addresses_are_never_allowed() {
    for address in [
        "169.254.169.254",
        "169.254.170.2",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::7f00:1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "64:ff9b:1::8.8.8.8",
        "64:ff9b:1::a9fe:a9fe",
        "fd20:ce::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "0.0.0.0",
        "::",
        "::7f00:1",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2001::1",
        "100::1",
        "4000::1",
    ] {
        for networks in [PUBLIC, DEVELOPMENT, PRIVATE] {
            assert!(!allows(networks, address), "{address}");
        }
    }
}

#[test]
fn a_mapped_address_is_judged_like_the_address_in_it() {
    assert!(allows(PUBLIC, "::ffff:8.8.8.8"));
    assert!(allows(PUBLIC, "64:ff9b::8.8.8.8"));
}

fn check(networks: Networks, url: &str) -> bool {
    networks.check(&Url::parse(url).unwrap()).is_ok()
}

#[test]
fn only_https_is_spoken_and_http_to_this_machine_in_development() {
    assert!(check(PUBLIC, "https://accounts.example.org/token"));
    assert!(check(DEVELOPMENT, "http://localhost:3000/token"));
    assert!(check(DEVELOPMENT, "http://idp.localhost:3000/token"));
    assert!(check(DEVELOPMENT, "http://127.0.0.1:3000/token"));
    assert!(check(DEVELOPMENT, "http://[::1]:3000/token"));
    for url in ["http://accounts.example.org/", "http://8.8.8.8/", "ftp://example.org/", "file:///etc/passwd"]
    {
        for networks in [PUBLIC, DEVELOPMENT, PRIVATE] {
            assert!(!check(networks, url), "{url}");
        }
    }
    for networks in [PUBLIC, PRIVATE] {
        assert!(!check(networks, "http://localhost:3000/"));
    }
}

#[test]
fn an_address_in_the_url_is_judged_whatever_way_it_is_written() {
    for url in [
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://[::ffff:7f00:1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/",
        "https://LOCALHOST./",
        "https://10.1.2.3:8443/",
    ] {
        assert!(!check(PUBLIC, url), "{url}");
    }
    assert!(check(PUBLIC, "https://1.1.1.1/"));
    assert!(!check(PUBLIC, "https://user:secret@example.org/"));
}

proptest! {
    #[test]
    fn an_address_is_judged_alike_in_all_its_forms(bits in any::<u32>()) {
        let address = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = address.octets();
        for networks in [PUBLIC, DEVELOPMENT, PRIVATE] {
            let is_allowed = networks.allow(address.into());
            prop_assert_eq!(networks.allow(address.to_ipv6_mapped().into()), is_allowed);
            let url = format!("https://[::ffff:{address}]/");
            prop_assert_eq!(check(networks, &url), is_allowed);
            prop_assert_eq!(check(networks, &format!("https://{bits}/")), is_allowed);
            let relayed = Ipv6Addr::new(0x2002, u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]), 0, 0, 0, 0, 1);
            prop_assert!(!networks.allow(relayed.into()));
        }
    }
}
