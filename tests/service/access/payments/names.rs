//! The newest event of a subscription names its account. The subscription moves to this account in one
//! transaction.

use serde_json::{Value, json};

use super::stripe::{CREATED, Event, PAID, UPDATED, bought, event, invoice, subscription, with};
use super::{GRACE, PAYMENTS, Shop, day};
use crate::access::accounts::interrupted::interrupt;
use crate::access::expect_no_secrets;
use crate::access::rows::{all, numbered_key};
use crate::support::one_instance_each;

const END: i64 = 30;

/// A subscription to `pro` from yesterday on, of a customer `cus_zoe`, with this metadata.
fn of(metadata: &Value) -> Value {
    let object = subscription("sub_1", "zoe", &[("price_pro", day(-1), day(END))]);
    with(&object, json!({"metadata": metadata}))
}

fn named(account: &str) -> Value {
    of(&json!({"account": account}))
}

/// The update that names the account, this many seconds before now.
fn rename(account: &str, seconds: i64) -> Event {
    event(UPDATED, day(0) - seconds, &named(account))
}

impl Shop {
    /// Checks that only this one of the accounts has access, and that the row of the subscription names it.
    async fn expect_only(&self, account: &str, others: &[&str]) {
        self.expect(account, &[(day(END) + GRACE, "pro"), (day(END) + GRACE + 1, "deny")]).await;
        for other in others {
            self.expect(other, &[(day(0), "deny")]).await;
        }
        let owner = all(&self.cloud).await.into_iter().find(|row| row["pk"]["S"] == "subscription#sub_1");
        assert_eq!(owner.unwrap()["account"]["S"], account);
    }
}

#[tokio::test]
async fn metadata_that_is_set_later_or_changed_moves_the_subscription() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(-1), day(END));
    for metadata in [json!({}), Value::Null] {
        shop.deliver(&event(CREATED, day(-1), &of(&metadata))).await;
        shop.expect_only("cus_zoe", &[]).await;
    }
    shop.apply(&[event(PAID, day(-1), &invoice(&of(&json!({})), &[(500, item)]))]).await;
    shop.apply(&[rename("zoe", 60)]).await;
    shop.expect_only("zoe", &["cus_zoe"]).await;
    shop.apply(&[rename("yan", 50)]).await;
    shop.expect_only("yan", &["zoe", "cus_zoe"]).await;
    // A later event without a name is an event of the customer.
    shop.apply(&[event(UPDATED, day(0) - 40, &of(&json!({"order": "1"})))]).await;
    shop.expect_only("cus_zoe", &["zoe", "yan"]).await;
}

#[tokio::test]
async fn events_with_an_old_name_that_arrive_late_do_not_move_it_back() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(-1), day(END));
    let [created, paid] = bought(&named("zoe"), item);
    shop.apply(&[rename("yan", 60)]).await;
    for late in [created, paid, rename("zoe", 61)] {
        shop.deliver(&late).await;
        shop.expect_only("yan", &["zoe"]).await;
    }
    // An invoice has the name of its own time, and moves nothing.
    let renewed = ("price_pro", day(END), day(END + 30));
    shop.apply(&[event(PAID, day(0), &invoice(&named("zoe"), &[(500, renewed)]))]).await;
    let end = day(END + 30) + GRACE;
    shop.expect("yan", &[(end, "pro"), (end + 1, "deny")]).await;
    shop.expect("zoe", &[(day(0), "deny")]).await;
}

#[tokio::test]
async fn an_invoice_names_the_account_only_until_an_event_of_the_subscription_does() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(-1), day(END));
    shop.apply(&[event(PAID, day(0), &invoice(&named("old"), &[(500, item)]))]).await;
    shop.expect_only("old", &[]).await;
    // Although the event is older than the invoice.
    shop.apply(&[event(CREATED, day(-1), &named("zoe"))]).await;
    shop.expect_only("zoe", &["old"]).await;
}

#[tokio::test]
async fn a_name_that_is_not_allowed_falls_back_to_the_customer_with_a_warning() {
    let shop = Shop::open().await;
    let pasted = numbered_key(9_999);
    for (number, name) in (1..).zip(["#", "two words", &"x".repeat(65), pasted.expose()]) {
        shop.deliver(&rename(name, 100 - number)).await;
        shop.expect_only("cus_zoe", &[]).await;
        let lines = shop.lines("account name not allowed").await;
        assert_eq!(lines.len(), usize::try_from(number).unwrap(), "{lines:?}");
        assert_eq!(lines.last().unwrap()["level"], "WARN");
    }
    expect_no_secrets(&shop.cloud, &[pasted.expose()]);
}

#[tokio::test]
async fn racing_names_leave_one_account_with_the_subscription() {
    let shop = Shop::with(local::Options::for_tests(), &[]).await;
    shop.apply(&[event(CREATED, day(-1), &named("zoe"))]).await;
    for round in 0..8 {
        let [earlier, later] = [rename("xan", 101 - 10 * round), rename("yan", 100 - 10 * round)];
        tokio::join!(shop.deliver(&earlier), shop.deliver(&later));
        shop.expect_only("yan", &["xan", "zoe"]).await;
        shop.deliver(&rename("zoe", 95 - 10 * round)).await;
        shop.expect_only("zoe", &["xan", "yan"]).await;
    }
}

#[tokio::test]
async fn an_interrupted_move_has_moved_nothing_and_is_completed_by_its_repetition() {
    let shop = Shop::with(one_instance_each(), &[]).await;
    shop.apply(&[event(CREATED, day(-1), &named("zoe"))]).await;
    for count in 0.. {
        let (from, to) = if count % 2 == 0 { ("zoe", "yan") } else { ("yan", "zoe") };
        let moving = rename(to, 100 - i64::try_from(count).unwrap());
        let response = interrupt(&shop.cloud, PAYMENTS, &moving.of_event_bridge(), count).await;
        if response.is_some() {
            assert_eq!(count, 1, "a move is one transaction");
            break;
        }
        shop.expect_only(from, &[to]).await;
        shop.apply(&[moving]).await;
        shop.expect_only(to, &[from]).await;
    }
}
