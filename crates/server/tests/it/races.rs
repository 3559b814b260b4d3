//! Twenty at once: one winner, one lineage, no 5xx.

use latchkey_testkit::{PASSWORD, both_stores};

both_stores! {
    parallel async fn of_twenty_sign_ups_for_one_address_one_wins(app) {
        let sign_ups = (0..20).map(|_| tokio::spawn(app.anon().sign_up("ada@example.org", PASSWORD).send()));

        let mut statuses = Vec::new();
        for sign_up in sign_ups.collect::<Vec<_>>() {
            statuses.push(sign_up.await.unwrap().status);
        }

        statuses.sort_unstable();
        assert_eq!(statuses[0], 200);
        assert!(statuses[1..].iter().all(|status| *status == 409), "{statuses:?}");
    }
}
