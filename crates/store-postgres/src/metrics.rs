//! Metrics of the engine: its pool of connections.

use latchkey_metrics::{About, Collect, Page};

use crate::store::Postgres;

const CONNECTIONS: About = About {
    name: "postgres_connections",
    help: "Connections of the pool by state; waiting are requests for one, and most is the size of the pool.",
};

impl Collect for Postgres {
    fn collect(&self, page: &mut Page) {
        let pool = self.pool_status();
        let states = [
            ("used", pool.size.saturating_sub(pool.available)),
            ("idle", pool.available),
            ("waiting", pool.waiting),
            ("most", pool.max_size),
        ];
        page.gauges(CONNECTIONS, "state", states);
    }

    fn most_series(&self) -> usize {
        4
    }
}
