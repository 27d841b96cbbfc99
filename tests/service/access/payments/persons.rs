//! What a person sets for an account is another entry beside its subscriptions, and a suspension by a person
//! is above all entries. No payment changes either.

use common::time::UnixSeconds;
use serde_json::{Value, json};

use super::stripe::{UPDATED, bought, event, subscription};
use super::{GRACE, HOUR, Shop, day};
use crate::access::commands::{done, refused, run};

fn rfc3339(time: i64) -> String {
    UnixSeconds::new(time).to_string()
}

/// The command that sets these fields of the account `zoe`.
fn set(fields: &Value) -> Value {
    let mut command = json!({"command": "set_account", "account": "zoe"});
    command.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    command
}

#[tokio::test]
async fn a_payment_that_arrives_late_applies_beside_what_a_person_has_set() {
    let shop = Shop::open().await;
    let person = json!({"tier": "starter", "paid_until": rfc3339(day(100))});
    done(&shop.cloud, set(&person)).await;
    let item = ("price_pro", day(-1), day(29));
    shop.apply(&bought(&subscription("sub_1", "zoe", &[item]), item)).await;
    let end_of_pro = [(day(0), "pro"), (day(29) + GRACE, "pro"), (day(29) + GRACE + 1, "starter")];
    shop.expect("zoe", &end_of_pro).await;
    shop.expect("zoe", &[(day(100), "starter"), (day(100) + 1, "deny")]).await;
    // A higher tier of the person's entry outlasts the subscription, and the subscription a lower one.
    done(&shop.cloud, set(&json!({"tier": "pro"}))).await;
    shop.expect("zoe", &[(day(29) + GRACE + 1, "pro"), (day(100), "pro"), (day(100) + 1, "deny")]).await;
    done(&shop.cloud, set(&json!({"tier": "starter", "paid_until": rfc3339(day(10))}))).await;
    shop.expect("zoe", &[(day(10) + 1, "pro"), (day(29) + GRACE, "pro"), (day(29) + GRACE + 1, "deny")])
        .await;
}

#[tokio::test]
async fn a_suspension_by_a_person_stays_until_a_person_lifts_it() {
    let shop = Shop::open().await;
    let [first, second] = [("price_pro", day(-30), day(0)), ("price_pro", day(0), day(30))];
    shop.apply(&bought(&subscription("sub_1", "zoe", &[first]), first)).await;
    done(&shop.cloud, set(&json!({"status": "suspended"}))).await;
    let suspended = [(day(0), "deny"), (day(1), "deny")];
    shop.expect("zoe", &suspended).await;
    let renewed = subscription("sub_1", "zoe", &[second]);
    shop.apply(&[event(UPDATED, day(0), &renewed)]).await;
    let other = subscription("sub_2", "zoe", &[second]);
    shop.apply(&bought(&other, second)).await;
    shop.expect("zoe", &suspended).await;
    let account = shop.account("zoe").await;
    assert_eq!((&account["status"], &account["allowed"]), (&json!("suspended"), &json!(false)), "{account}");
    done(&shop.cloud, set(&json!({"status": "active"}))).await;
    shop.expect("zoe", &[(day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")]).await;
}

#[tokio::test]
async fn a_first_entry_of_a_person_has_a_tier_and_a_date() {
    let shop = Shop::open().await;
    let item = ("price_starter", day(0), day(30));
    shop.apply(&bought(&subscription("sub_1", "zoe", &[item]), item)).await;
    for incomplete in [json!({"tier": "pro"}), json!({"paid_until": rfc3339(day(100))})] {
        let response = run(&shop.cloud, set(&incomplete)).await;
        assert_eq!(response["error"]["code"], "incomplete_account", "{response}");
    }
    // An account that only payments have created needs neither for a change of its status.
    done(&shop.cloud, set(&json!({"status": "active"}))).await;
    shop.expect("zoe", &[(day(30) + GRACE, "starter"), (day(30) + GRACE + 1, "deny")]).await;
    let unknown = json!({"command": "set_account", "account": "nobody", "status": "suspended"});
    assert_eq!(refused(&shop.cloud, unknown).await, "incomplete_account");
}

#[tokio::test]
async fn an_account_is_shown_with_what_it_may_use_now_and_its_subscriptions() {
    let shop = Shop::open().await;
    let [starter, pro] = [("price_starter", day(-10), day(355)), ("price_pro", day(-10), day(20))];
    let [created, paid] = bought(&subscription("sub_1", "zoe", &[pro]), pro);
    shop.apply(&[created, paid]).await;
    shop.apply(&bought(&subscription("sub_2", "zoe", &[starter]), starter)).await;
    let account = shop.account("zoe").await;
    assert_eq!((&account["tier"], &account["status"]), (&json!("pro"), &json!("active")), "{account}");
    assert_eq!(account["paid_until"], rfc3339(day(20) + GRACE));
    let of = |id: &str, tier: &str, paid_until: i64| {
        json!({
            "id": id, "status": "active", "tier": tier, "paid_until": rfc3339(paid_until),
            "reported_at": rfc3339(day(-10)),
        })
    };
    let subscriptions =
        json!([of("sub_1", "pro", day(20) + GRACE), of("sub_2", "starter", day(355) + GRACE)]);
    assert_eq!(account["subscriptions"], subscriptions);
    let past_due = super::stripe::with(&subscription("sub_1", "zoe", &[pro]), json!({"status": "past_due"}));
    shop.apply(&[event(UPDATED, day(0) - HOUR, &past_due)]).await;
    let account = shop.account("zoe").await;
    let [first, _] = &account["subscriptions"].as_array().unwrap()[..] else { panic!("{account}") };
    assert_eq!(
        (&first["status"], &first["reported_at"]),
        (&json!("past_due"), &json!(rfc3339(day(0) - HOUR)))
    );
}
