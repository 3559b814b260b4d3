//! Exports of all accounts, as the command line makes them.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use latchkey_service::exports::{ExportRequest, Lines, Secrets};

use crate::app::TestApp;

/// Lines in memory.
struct Collected(Arc<Mutex<Vec<u8>>>);

#[async_trait]
impl Lines for Collected {
    async fn take(&mut self, lines: Vec<u8>) -> bool {
        self.0.lock().unwrap().extend(lines);
        true
    }
}

impl TestApp {
    /// Exports all accounts with their secrets, which no call over HTTP does.
    pub async fn export_with_secrets(&self) -> String {
        let lines = Arc::default();
        let request = ExportRequest { secrets: Secrets::Included, since: None };
        let exports = self.service().exports.clone();
        exports.write(request, Box::new(Collected(Arc::clone(&lines)))).await.expect("an export");
        String::from_utf8(std::mem::take(&mut lines.lock().unwrap())).expect("text")
    }
}
