//! The connection pool: construction, TLS, and idle timeout.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::link::{LinkManager, Pool};
use crate::opening;
use crate::options::{Address, OptionsError, PostgresOptions};

/// Builds the pool without contacting the server. Connections are made on demand.
pub(crate) fn build(options: &PostgresOptions) -> Result<Pool, OptionsError> {
    let address = Address::parse(options)?;
    if address.is_exposed() {
        tracing::warn!("the connection to the database is not encrypted: set sslmode=verify-full");
    }
    let hosts = address.host_count();
    let tls = tls_for(&address)?;
    // Connections are not reset at checkout, because a returned connection has at most a ROLLBACK in flight.
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let driver = Manager::from_config(address.config, tls, manager_config);
    let manager = LinkManager::new(driver, options.prepared, opening::session(options));
    // Building the pool cannot fail, because a runtime is given.
    Pool::builder(manager)
        .max_size(options.pool_size.max(1))
        .wait_timeout(Some(options.acquire_timeout))
        .create_timeout(Some(options.connect_timeout.saturating_mul(hosts)))
        .recycle_timeout(Some(options.acquire_timeout))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|_| OptionsError::Missing("runtime"))
}

/// Starts a task that closes connections after the idle timeout, until the pool is dropped. Requires a Tokio runtime.
pub(crate) fn close_idle(pool: &Pool, idle_timeout: Duration) {
    let pool = pool.weak();
    let pause = (idle_timeout / 2).max(Duration::from_secs(1));
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(pause).await;
            let Some(pool) = pool.upgrade() else { return };
            pool.retain(|_, metrics| metrics.last_used() < idle_timeout);
        }
    });
}

/// Makes the TLS connector for these options.
pub(crate) fn tls_for(address: &Address) -> Result<MakeRustlsConnect, OptionsError> {
    Ok(MakeRustlsConnect::new(tls_config(address)?))
}

fn tls_config(address: &Address) -> Result<ClientConfig, OptionsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(OptionsError::Tls)?
        .with_root_certificates(authorities(address)?)
        .with_no_client_auth();
    Ok(config)
}

/// Reads the certificate authorities from the file, or takes the public ones if there is no file.
fn authorities(address: &Address) -> Result<RootCertStore, OptionsError> {
    let mut roots = RootCertStore::empty();
    if address.config.get_ssl_mode() == SslMode::Disable {
        return Ok(roots);
    }
    let Some(path) = &address.ca_file else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    };
    let unusable = |reason: String| OptionsError::CaFile { path: path.clone(), reason };
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("there is none".to_owned()));
    }
    Ok(roots)
}
