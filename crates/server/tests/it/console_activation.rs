//! Tests of the activation of a grant in the console, and of owners who give and withdraw roles.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::operator::{ActingOperator, Party, Role};
use latchkey_service::console::ActivationStep;
use latchkey_service::operators::Granting;
use latchkey_testkit::{Authenticator, both_stores, json, minutes};

use crate::audit::last;
use crate::console_calls::{
    ConsoleBrowser, operator, options_of, password_of, registration, verified, without_factor,
};
use crate::operators::{grant, is_active};
use crate::page_session_calls::refused;

both_stores! {
    with(verified)
    async fn link_password_and_second_factor_activate_the_grant_and_open_the_console(app) {
        let ada = app.two_step_user("ada").await;
        let mut browser = ConsoleBrowser::new(&app);

        browser.activate(&ada, Role::Owner).await;

        assert!(is_active(&app, &ada).await);
        assert_eq!(browser.live().await.role(), Role::Owner);
        assert_eq!(last(&app, "operator_activated").await["userId"], json!(ada.id));
    }

    with(verified)
    async fn account_without_a_factor_enrols_one_to_activate(app) {
        let ada = app.user("ada").await;
        let token = grant(&app, &ada, Role::Admin).await;
        let mut browser = ConsoleBrowser::new(&app);
        let Ok(ActivationStep::Challenged(challenge)) = browser.begin_activation(&token, password_of(&ada)).await
        else {
            panic!("no challenge")
        };
        assert_eq!(challenge.kinds, [ChallengeKind::Enroll]);
        let console = &app.service().console;
        let begun = console.begin_enrolment(challenge.id.clone()).await.unwrap();
        let code = Authenticator::new(&begun.secret, &app.clock).code();
        let code = SixDigitCode::parse(&code).unwrap();
        assert!(!is_active(&app, &ada).await);

        let shown = (challenge.id, begun.factor_id, code);
        let enrolled = console.confirm_enrolment(&token, shown, browser.asks().await, &browser.client).await.unwrap();
        assert_eq!(enrolled.recovery_codes.len(), 10);
        browser.take_session(*enrolled.session);

        assert!(is_active(&app, &ada).await);
        assert_eq!(browser.live().await.role(), Role::Admin);
    }

    with(verified)
    async fn account_without_a_factor_registers_a_passkey_to_activate(app) {
        let ada = app.user("ada").await;
        let token = grant(&app, &ada, Role::Admin).await;
        let mut browser = ConsoleBrowser::new(&app);
        let Ok(ActivationStep::Challenged(challenge)) = browser.begin_activation(&token, password_of(&ada)).await
        else {
            panic!("no challenge")
        };
        let console = &app.service().console;
        let begun = console.begin_passkey_enrolment(challenge.id.clone()).await.unwrap();
        let ceremony = begun.ceremony_id.clone();
        let creation = app.phone().create(&options_of(begun)).to_json();

        let shown = (challenge.id, &*ceremony, registration(&creation));
        let asks = browser.asks().await;
        let enrolled = console.confirm_passkey_enrolment(&token, shown, asks, &browser.client).await.unwrap();
        browser.take_session(*enrolled.session);

        assert!(is_active(&app, &ada).await);
        assert_eq!(browser.live().await.role(), Role::Admin);
    }

    with(without_factor)
    async fn password_alone_activates_in_development(app) {
        let ada = app.user("ada").await;
        let token = grant(&app, &ada, Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);

        let Ok(ActivationStep::Activated(session)) = browser.begin_activation(&token, password_of(&ada)).await
        else {
            panic!("not active")
        };
        browser.take_session(*session);

        assert!(is_active(&app, &ada).await);
        assert_eq!(browser.live().await.role(), Role::Owner);
    }

    with(verified)
    async fn link_of_another_account_and_expired_link_get_the_answer_of_wrong_credentials(app) {
        let (ada, eve) = (app.two_step_user("ada").await, app.two_step_user("eve").await);
        let (of_ada, of_eve) = (grant(&app, &ada, Role::Owner).await, grant(&app, &eve, Role::Owner).await);
        let browser = ConsoleBrowser::new(&app);

        for token in [&of_eve, "x", ""] {
            refused(browser.begin_activation(token, password_of(&ada)).await, "INVALID_CREDENTIALS");
        }
        app.clock.advance(minutes(30));
        refused(browser.begin_activation(&of_ada, password_of(&ada)).await, "INVALID_CREDENTIALS");

        assert!(!is_active(&app, &ada).await && !is_active(&app, &eve).await);
    }

    with(verified)
    async fn session_of_a_sleeping_grant_opens_nothing(app) {
        let ada = app.two_step_user("ada").await;
        let token = grant(&app, &ada, Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let Ok(ActivationStep::Challenged(challenge)) = browser.begin_activation(&token, password_of(&ada)).await
        else {
            panic!("no challenge")
        };

        let answered = browser.answer(challenge, ChallengeKind::Totp, &ada.authenticator.code()).await;

        refused(answered, "INVALID_CHALLENGE");
        assert!(browser.session().await.is_none() && !is_active(&app, &ada).await);
    }

    with(verified)
    async fn owner_gives_roles_under_the_own_name(app) {
        let (owner, eve) = (operator(&app, "owner", Role::Owner).await, app.two_step_user("eve").await);
        let mut browser = ConsoleBrowser::new(&app);
        let party = browser.sign_in(&owner).await.party();
        let (operators, id) = (&app.service().operators, eve.id.parse().unwrap());

        let granting = operators.grant(id, Role::Owner, party, Some(&browser.client)).await.unwrap();

        assert!(matches!(granting, Granting::Asleep(_)));
        let event = last(&app, "operator_granted").await;
        assert_eq!(
            (&event["actor"], &event["operatorId"], &event["userId"]),
            (&json!("operator"), &json!(owner.id), &json!(eve.id))
        );
        let found = operators.list().await.unwrap().into_iter().find(|one| one.user.id == id).unwrap();
        assert_eq!(found.grant.granted_by, Some(owner.id.parse().unwrap()));
        operators.revoke(id, false, party, Some(&browser.client)).await.unwrap();
        assert_eq!(last(&app, "operator_revoked").await["operatorId"], json!(owner.id));
    }

    with(verified)
    async fn nobody_below_owner_manages_operators(app) {
        let (ada, eve) = (operator(&app, "ada", Role::Owner).await, app.two_step_user("eve").await);
        let (operators, id) = (&app.service().operators, eve.id.parse().unwrap());
        let user_id = ada.id.parse().unwrap();
        let below = [Role::Viewer, Role::Support, Role::Admin];
        let parties = below.map(|role| Party::Operator(ActingOperator { user_id, role }));

        for party in parties.into_iter().chain([Party::Admin]) {
            refused(operators.grant(id, Role::Viewer, party, None).await, "OPERATOR_PROTECTED");
            refused(operators.reactivate(user_id, party, None).await, "OPERATOR_PROTECTED");
            refused(operators.revoke(user_id, false, party, None).await, "OPERATOR_PROTECTED");
        }

        assert!(is_active(&app, &ada).await);
        assert_eq!(operators.list().await.unwrap().len(), 1);
    }

    with(verified)
    async fn last_owner_stays_in_the_console(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let party = browser.sign_in(&ada).await.party();
        let (operators, id) = (&app.service().operators, ada.id.parse().unwrap());

        refused(operators.revoke(id, false, party, None).await, "LAST_OWNER");
        refused(operators.grant(id, Role::Admin, party, None).await, "LAST_OWNER");
        refused(operators.reactivate(id, party, None).await, "LAST_OWNER");

        assert!(browser.session().await.is_some() && is_active(&app, &ada).await);
    }
}
