//! Check of the listen address: this machine has it, and this user may bind to it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use tokio::net::TcpSocket;

use super::{Bad, Findings};
use crate::settings::Settings;

pub(super) fn inspect(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    if bad.has("server.bind") {
        return;
    }
    let address = settings.server.bind;
    let Err(error) = bind(address) else { return };
    match error.kind() {
        // A warning, not a problem: `config check` is often run beside the running service, above all
        // before an upgrade.
        ErrorKind::AddrInUse => findings.warnings.push(format!(
            "server.bind: {address} is in use, by the running service or by another program; a start fails while it is"
        )),
        kind => {
            let remedy = match kind {
                ErrorKind::AddrNotAvailable => "this machine does not have the address; name one that it has",
                ErrorKind::PermissionDenied => "name a port from 1024 on, or give the service CAP_NET_BIND_SERVICE",
                _ => "name another",
            };
            findings.refuse("server.bind", format!("cannot listen on {address}: {error}; {remedy}"));
        }
    }
}

/// Binds to the address with the socket options of a start, without listening, and releases it.
fn bind(address: SocketAddr) -> io::Result<()> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)
}
