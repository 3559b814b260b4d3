//! Tests of the activation of a grant in the console, and of owners who give and withdraw roles.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::operator::{ActingOperator, Party, Role};
use latchkey_service::console::ActivationStep;
use latchkey_service::operators::Granting;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Authenticator, PASSWORD, TestApp, User, both_stores, json, minutes};

use crate::audit::last;
use crate::console_calls::{
    ConsoleBrowser, operator, options_of, password_of, registration, verified, without_factor,
};
use crate::console_user_calls::desk;
use crate::operators::{grant, is_active};
use crate::page_session_calls::refused;
use crate::pages_enroll::shown_authenticator;

const ACTIVATE: &str = "/console/activate";

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

    with(|b| verified(b).console())
    async fn owner_gets_a_lower_role_once_the_address_was_typed(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let other = operator(&app, "other", Role::Owner).await;
        let fields = [("id", other.id.as_str()), ("role", "admin")];

        let asked = owner.forces_at("/console/operators", "act=change", &fields).await;
        let page = owner.browser.follow(&asked).await;
        assert!(page.hosted(200).contains("is no owner any more"), "{page:?}");
        let wrong = owner.browser.submit(&page, "/console/operators/revoke", &[("confirmation", "other")]).await;
        assert!(wrong.hosted(400).contains("Type it exactly as it is shown."), "{wrong:?}");
        assert_eq!(role(&app, &other).await, Role::Owner);
        let typed = [("confirmation", other.email.as_str())];
        let done = owner.browser.submit(&page, "/console/operators/revoke", &typed).await;

        owner.browser.follow(&done).await.hosted(200);
        assert_eq!(role(&app, &other).await, Role::Admin);
        owner.browser.get(&format!("/console/operators/revoke?user={}&role=owner", other.id)).await.hosted(400);
    }

    with(|b| verified(b).console().settings(|settings| settings.passkeys_enabled = false))
    async fn form_without_the_cookie_of_the_link_is_refused(app) {
        let ada = app.two_step_user("ada").await;
        let token = grant(&app, &ada, Role::Admin).await;
        let browser = app.browser();
        let page = browser.follow(&browser.get(&format!("{ACTIVATE}?token={token}")).await).await;
        browser.forget("activation");

        let login = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let refused = browser.submit(&page, "act=password", &login).await;

        assert!(refused.hosted(400).contains("This link does not work"), "{refused:?}");
    }

    with(|b| verified(b).console().settings(|settings| settings.passkeys_enabled = false))
    async fn secrets_of_an_activation_travel_in_a_cookie_that_is_forgotten(app) {
        let ada = app.user("ada").await;
        let token = grant(&app, &ada, Role::Admin).await;
        let browser = app.browser();
        let mut addresses = Vec::new();
        let mut follow = async |answer: Answer| {
            addresses.push(answer.header("location").expect("a redirect").to_owned());
            browser.follow(&answer).await
        };

        let page = follow(browser.get(&format!("{ACTIVATE}?token={token}")).await).await;
        let login = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let page = follow(browser.submit(&page, "act=password", &login).await).await;
        let page = follow(browser.submit(&page, "act=totp", &[]).await).await;
        let back = browser.get(&link(&page, "at=factor").expect("a way back")).await;
        assert!(back.hosted(200).contains("act=totp"), "{back:?}");
        let code = shown_authenticator(&app, &page).code();
        let page = follow(browser.submit(&page, "act=code", &[("code", &code)]).await).await;
        assert!(page.hosted(200).contains("act=noted"), "{page:?}");

        let session = browser.cookie("latchkey_console_8700").expect("a session");
        browser.forget("latchkey_console_8700");
        assert_eq!(browser.get(ACTIVATE).await.status, 303, "the codes need the session");
        let browser = browser.with_cookie("latchkey_console_8700", session);
        let done = browser.submit(&page, "act=noted", &[]).await;
        assert_eq!(done.header("location"), Some("/console"));
        assert_eq!(browser.cookie("activation"), None);
        assert!(browser.get(ACTIVATE).await.hosted(200).contains("This link does not work"), "nothing is left");
        assert!(addresses.iter().all(|address| address == ACTIVATE), "{addresses:?}");
        assert!(is_active(&app, &ada).await);
    }
}

async fn role(app: &TestApp, user: &User) -> Role {
    let operators = app.service().operators.list().await.unwrap();
    let found = operators.iter().find(|operator| operator.user.id.to_string() == user.id);
    found.expect("an operator").grant.role
}
