//! `/console`: the numbers of the service.

use latchkey_domain::operator::Role;
use latchkey_testkit::{both_stores, minutes, seconds};

use crate::console_calls::{operator, verified};
use crate::console_user_calls::desk_of;

both_stores! {
    with(|b| verified(b).console())
    async fn accounts_are_as_new_as_the_new_ones_and_the_age_of_the_rest_is_told(app) {
        let vera = operator(&app, "vera", Role::Viewer).await;
        let desk = desk_of(&app, &vera).await;
        desk.browser.get("/console").await.hosted(200);
        app.user("ada").await;
        app.user("bob").await;
        app.clock.advance(seconds(25));

        let page = desk.browser.get("/console").await;

        let text = page.hosted(200);
        assert!(text.contains("Accounts</a></dt><dd>3</dd><dd class=\"of\">3 verified</dd>"), "{text}");
        assert!(text.contains("New in 24 hours</a></dt><dd>3</dd>"), "{text}");
        assert!(text.contains("as of 25 seconds ago"), "{text}");
        assert!(!text.contains("Nobody else has an account yet"), "{text}");
    }

    with(|b| verified(b).console())
    async fn new_accounts_are_those_of_whole_24_hours(app) {
        let vera = operator(&app, "vera", Role::Viewer).await;
        let tile = async || {
            let page = desk_of(&app, &vera).await.browser.get("/console").await;
            let tile = page.hosted(200).split("New in 24 hours</a></dt>").nth(1).expect("the tile").to_owned();
            tile.split("</div>").next().unwrap_or_default().to_owned()
        };
        let told = |day: u64, week: u64| format!("<dd>{day}</dd><dd class=\"of\">{week} in 7 days</dd>");
        // The clock starts at 10:00 in UTC.
        app.clock.advance(minutes(13 * 60 + 50));
        app.user("ada").await;

        app.clock.advance(minutes(15));
        assert_eq!(tile().await, told(2, 2), "at 00:05");
        app.clock.advance(minutes(10 * 60));
        assert_eq!(tile().await, told(1, 2), "the first account is older than a day");
        app.clock.advance(minutes(6 * 24 * 60));
        assert_eq!(tile().await, told(0, 1), "and older than a week");
    }
}
