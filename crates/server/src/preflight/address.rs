//! Check of the listen addresses: this machine has them, and this user may bind to them.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use tokio::net::TcpSocket;

use super::{Bad, Findings};
use crate::settings::Settings;

pub(super) fn inspect(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    let console = settings.console.bind.filter(|_| settings.console.enabled);
    let addresses = [
        ("server.bind", Some(settings.server.bind)),
        ("console.bind", console),
        ("metrics.bind", settings.metrics.bind),
    ];
    for (key, address) in addresses {
        if let Some(address) = address.filter(|_| !bad.has(key)) {
            inspect_one(key, address, findings);
        }
    }
}

fn inspect_one(key: &str, address: SocketAddr, findings: &mut Findings) {
    let Err(error) = bind(address) else { return };
    match error.kind() {
        // A warning, not a problem: `config check` is often run beside the running service, above all
        // before an upgrade.
        ErrorKind::AddrInUse => findings.warnings.push(format!(
            "{key}: {address} is in use, by the running service or by another program; a start fails while it is"
        )),
        kind => {
            let remedy = match kind {
                ErrorKind::AddrNotAvailable => "this machine does not have the address; name one that it has",
                ErrorKind::PermissionDenied => "name a port from 1024 on, or give the service CAP_NET_BIND_SERVICE",
                _ => "name another",
            };
            findings.refuse(key, format!("cannot listen on {address}: {error}; {remedy}"));
        }
    }
}

/// Binds to the address with the socket options of a start, without listening, and releases it.
fn bind(address: SocketAddr) -> io::Result<()> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)
}
