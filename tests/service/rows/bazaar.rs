//! An invalid product of the bazaar is left out of every mode and of the history. The bazaar fails only if
//! most products are invalid or no product has a price.

use local::Cloud;
use serde_json::{Value, json};

use crate::history::{event, failure};
use crate::provider::{BAZAAR, NOW, texts};
use crate::support::{
    expect_clean_logs, get_at, invoke, logged, one_instance_each, start_with, without_repeated_fetches,
};
use crate::upstream_faults::expect_failure;

/// The request for the list of products.
const LIST: &str = "/v1/bazaar?mode=list";

const BOOK: &str = "/v1/bazaar?mode=book&id=B";

#[tokio::test]
async fn a_bazaar_without_a_price_is_a_failure_for_the_route_and_for_the_recorder() {
    let cloud = start_with(without_repeated_fetches()).await;
    let at = |prices: [&str; 2]| {
        let sold = BAZAAR.usual("B").replacen("5.5", prices[0], 1);
        sold.replacen("5.5", prices[1], 1)
    };
    let mut now = NOW;
    for rows in [vec![], vec![at(["0", "0.0"])], vec![at(["0.004", "1e-11"])], vec![at(["0", "null"])]] {
        BAZAAR.show(&cloud, &[BAZAAR.usual("A")]);
        let earlier = get_at(&cloud, LIST, now).await;
        BAZAAR.show(&cloud, &rows);
        get_at(&cloud, LIST, now + 5_000).await.expect_replay_of(&earlier);
        get_at(&cloud, "/v1/bazaar?mode=item&id=A", now + 5_001).await.data();
        let cause = failure(&cloud, "record-bazaar", event(now / 1_000)).await;
        assert!(cause.contains("no product has a price"), "{rows:?}: {cause}");
        now += 60_000;
    }
    // One price of one product is enough.
    for prices in [["0.005", "0"], ["0", "0.01"]] {
        BAZAAR.show(&cloud, &[at(["0.004", "0"]).replace("\"B\"", "\"C\""), at(prices)]);
        assert_eq!(get_at(&cloud, "/v1/bazaar?mode=prices", now).await.data()["count"], 2, "{prices:?}");
        let recorded = invoke(&cloud, "record-bazaar", event(now / 1_000)).await.json();
        assert_eq!(recorded["recorded"]["products"], 1, "{recorded}");
        now += 60_000;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn quick_status_must_be_an_object() {
    let cloud = start_with(one_instance_each()).await;
    let values = ["null", "5", r#""A""#, "[]", "{}", "true", "[5.5,5.5,7,7,7,7]"];
    for (number, value) in (0..).zip(values) {
        let odd = format!(r#""B":{{"product_id":"B","quick_status":{value}}}"#);
        BAZAAR.show(&cloud, &[BAZAAR.usual("A"), odd, BAZAAR.usual("C")]);
        let now = NOW + number * 60_000;
        assert_eq!(texts(&get_at(&cloud, LIST, now).await.data()["items"], "id"), ["A", "C"]);
        for mode in ["item", "book"] {
            get_at(&cloud, &format!("/v1/bazaar?mode={mode}&id=B"), now).await.error("NOT_FOUND");
        }
        let full = get_at(&cloud, "/v1/bazaar", now).await;
        assert!(full.text.contains(&format!(r#""quick_status":{value}}}"#)), "{}", full.text);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn of_two_products_with_the_same_id_the_last_counts_in_every_mode() {
    let cloud = start_with(one_instance_each()).await;
    // A product with this sell price, and with this level as its only buy order.
    let priced =
        |price: &str, level: &str| with_orders("B", &format!("[{level}]"), "[]").replace("5.5", price);
    let first = priced("1.5", LEVELS[0]);
    // The escape `\u0042` stands for `B`, so both products have the same id.
    let last = priced("2.5", LEVELS[1]).replacen("\"B\"", "\"\\u0042\"", 1);
    BAZAAR.show(&cloud, &[first.clone(), BAZAAR.usual("A"), last]);
    let (response, log) = logged(&cloud, get_at(&cloud, LIST, NOW)).await;
    assert_eq!(texts(&response.data()["items"], "id"), ["A", "B"]);
    log.expect_warning(1, "B");
    let item = get_at(&cloud, "/v1/bazaar?mode=item&id=B", NOW).await.data();
    assert_eq!(item["sellPrice"], 2.5);
    assert_eq!(book(&cloud, NOW).await["topBuyOrder"], 25.0);
    // The JSON parser of this test also takes the last of two members.
    let full = get_at(&cloud, "/v1/bazaar", NOW).await.data();
    assert_eq!(full["products"]["B"]["quick_status"]["sellPrice"], 2.5);
    // The last product counts even if it is invalid: the first product must not replace it.
    let without_price = priced("null", LEVELS[1]);
    BAZAAR.show(&cloud, &[first, BAZAAR.usual("A"), BAZAAR.usual("C"), without_price]);
    let later = NOW + 60_000;
    assert_eq!(texts(&get_at(&cloud, LIST, later).await.data()["items"], "id"), ["A", "C"]);
}

#[tokio::test]
async fn the_recorder_leaves_out_the_same_products() {
    let cloud = start_with(one_instance_each()).await;
    let usual = ["A", "B", "C", "D"].map(|id| BAZAAR.usual(id));
    let odd = [
        BAZAAR.usual("HALF\\ud800"),
        BAZAAR.usual("NULL").replace("5.5", "null"),
        BAZAAR.usual("NEGATIVE").replace(":7", ":-7"),
        r#""NONE":null"#.to_owned(),
    ];
    BAZAAR.show(&cloud, &[&odd[..], &usual[..]].concat());
    let (list, log) = logged(&cloud, get_at(&cloud, LIST, NOW)).await;
    assert_eq!(texts(&list.data()["items"], "id"), ["A", "B", "C", "D"]);
    assert_eq!(log.warnings[0]["skipped"], 4, "{:?}", log.warnings);
    // `mode=full` passes all bytes through.
    let full = get_at(&cloud, "/v1/bazaar", NOW).await;
    assert!(full.text.contains(r#""HALF\ud800":{"#), "{}", full.text);
    let (recorded, log) = logged(&cloud, invoke(&cloud, "record-bazaar", event(NOW / 1_000))).await;
    assert_eq!(recorded.json()["recorded"]["products"], 4, "{recorded:?}");
    let mut lines = log.warnings.iter();
    let line = lines.find(|line| line["message"] == "invalid products are not recorded").unwrap();
    assert_eq!(line["count"], 4, "{line}");
    for id in ["NULL", "NEGATIVE", "NONE"] {
        get_at(&cloud, &format!("/v1/bazaar?mode=item&id={id}"), NOW).await.error("NOT_FOUND");
        let history = get_at(&cloud, &format!("/v1/bazaar/history?item_id={id}&range=1h"), NOW).await.data();
        assert_eq!(history["dataPoints"], 0, "{id}");
    }
    expect_clean_logs(&cloud);
}

/// Two valid levels, by ascending price: the right order for sell offers, the wrong one for buy orders.
const LEVELS: [&str; 2] =
    [r#"{"amount":7,"pricePerUnit":1.5,"orders":2}"#, r#"{"amount":3.0,"pricePerUnit":2.5E1,"orders":1}"#];

fn with_orders(id: &str, sell_summary: &str, buy_summary: &str) -> String {
    let orders = format!(r#""sell_summary":{sell_summary},"buy_summary":{buy_summary},"quick_status""#);
    BAZAAR.usual(id).replace(r#""quick_status""#, &orders)
}

async fn book(cloud: &Cloud, now: i64) -> Value {
    get_at(cloud, BOOK, now).await.data()
}

#[tokio::test]
async fn the_levels_of_a_book_are_in_the_order_of_their_prices() {
    let cloud = start_with(one_instance_each()).await;
    let levels = |prices: &[&str]| {
        let level = |(amount, price): (usize, &&str)| {
            format!(r#"{{"amount":{amount},"pricePerUnit":{price},"orders":1,"more":null}}"#)
        };
        format!("[{}]", (1..).zip(prices).map(level).collect::<Vec<_>>().join(" , "))
    };
    let body = |orders: [&str; 3]| {
        let [sell, buy] = [&orders[..], &orders[1..]].map(levels);
        let spaced = with_orders("B", &sell, &buy).replacen(r#""B":"#, "\"B\" \n:\t", 1);
        [BAZAAR.usual("A"), spaced, with_orders("C", "[]", "[]")]
    };
    BAZAAR.show(&cloud, &body(["2.5", "1e2", "2.5"]));
    let expected = json!({
        "id": "B", "lastUpdated": 1_777_388_578_000_i64,
        "topBuyOrder": 100.0, "topSellOffer": 2.5,
        "buyOrders": [
            {"price": 100.0, "amount": 2, "orders": 1},
            // Equal prices stay in the provider's order.
            {"price": 2.5, "amount": 1, "orders": 1},
            {"price": 2.5, "amount": 3, "orders": 1},
        ],
        "sellOffers": [{"price": 2.5, "amount": 2, "orders": 1}, {"price": 100.0, "amount": 1, "orders": 1}],
        "sellPrice": 5.5, "buyPrice": 5.5,
    });
    assert_eq!(book(&cloud, NOW).await, expected);
    let empty = get_at(&cloud, "/v1/bazaar?mode=book&id=C", NOW).await.data();
    for (top, orders) in [("topBuyOrder", "buyOrders"), ("topSellOffer", "sellOffers")] {
        assert_eq!((&empty[top], &empty[orders]), (&Value::Null, &json!([])));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_level_that_makes_no_sense_is_left_out_and_not_its_product() {
    let cloud = start_with(one_instance_each()).await;
    let field = |name: &str, value: &str| {
        let usual = [("amount", "5"), ("pricePerUnit", "9.5"), ("orders", "5")];
        let members = usual.map(|(other, usual)| {
            let value = if other == name { value } else { usual };
            if value.is_empty() { String::new() } else { format!("{other:?}:{value}") }
        });
        let given: Vec<_> = members.into_iter().filter(|member| !member.is_empty()).collect();
        format!("{{{}}}", given.join(","))
    };
    let mut odd: Vec<String> = ["null", "5", "[]", "{}", r#""text""#, "[5,9.5,5]"].map(str::to_owned).into();
    for name in ["amount", "pricePerUnit", "orders"] {
        for value in ["", "null", "0", "-1", "1e400", r#""5""#, "true", "[]", "{}"] {
            odd.push(field(name, value));
        }
    }
    odd.extend([field("pricePerUnit", "-0.0"), field("pricePerUnit", "1.1e12")]);
    odd.extend([field("amount", "0.5"), field("orders", "9223372036854775808")]);
    odd.push(field("amount", "5").replace('}', r#","amount":6}"#));
    let mut now = NOW;
    for (number, level) in odd.iter().enumerate() {
        let sides = [format!("[{},{level},{}]", LEVELS[0], LEVELS[1]), format!("[{}]", LEVELS[0])];
        // Spoils the two sides alternately.
        let [sell, buy] = if number % 2 == 0 { [&sides[0], &sides[1]] } else { [&sides[1], &sides[0]] };
        BAZAAR.show(&cloud, &[BAZAAR.usual("A"), with_orders("B", sell, buy)]);
        let (response, log) = logged(&cloud, get_at(&cloud, BOOK, now)).await;
        let book = response.data();
        let (name, orders, other) = if number % 2 == 0 {
            ("sell", "buyOrders", "sellOffers")
        } else {
            ("buy", "sellOffers", "buyOrders")
        };
        let amounts: Vec<_> = book[orders].as_array().unwrap().iter().map(|level| &level["amount"]).collect();
        assert_eq!(amounts, if number % 2 == 0 { [3, 7] } else { [7, 3] }, "{level}");
        assert_eq!(book[other].as_array().unwrap().len(), 1);
        log.expect_warning(1, &format!("B {name}_summary #1"));
        now += 60_000;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_book_that_makes_no_sense_is_a_failure_and_nothing_else_changes() {
    let levels = |levels: &[&str]| format!("[{}]", levels.join(","));
    let good = levels(&LEVELS);
    let is_bad = [
        BAZAAR.usual("B"),
        with_orders("B", "null", &good),
        with_orders("B", &good, "{}"),
        with_orders("B", &good, &levels(&[LEVELS[0], "null", "{}"])),
        with_orders("B", "[5]", &good),
    ];
    let cloud = start_with(one_instance_each()).await;
    for (number, bad) in (0..).zip(is_bad) {
        let now = NOW + number * 60_000;
        BAZAAR.show(&cloud, &[with_orders("B", &good, &good)]);
        book(&cloud, now).await;
        BAZAAR.show(&cloud, &[bad.replace("5.5", "6.5"), with_orders("C", &good, "[]")]);
        // The request must fail: an empty side would mean that there are no orders, and the earlier book has
        // other prices.
        expect_failure(&get_at(&cloud, BOOK, now + 5_000).await, &bad);
        get_at(&cloud, "/v1/bazaar?mode=book&id=C", now + 5_001).await.data();
        for mode in ["item&id=B", "items&ids=B", "prices"] {
            let data = get_at(&cloud, &format!("/v1/bazaar?mode={mode}"), now + 5_002).await.data();
            let product = data.pointer("/items/0").unwrap_or(&data);
            assert_eq!(product["sellPrice"], 6.5, "{bad}");
            let tops = ["topBuyOrder", "topSellOffer"].map(|top| product.get(top).is_none_or(Value::is_null));
            assert_eq!(tops, [true; 2], "{bad}");
        }
        let list = get_at(&cloud, LIST, now + 5_003).await.data();
        assert_eq!(texts(&list["items"], "id"), ["B", "C"], "{bad}");
        let full = get_at(&cloud, "/v1/bazaar", now + 5_004).await;
        assert!(full.cached() && full.text.contains(&bad.replace("5.5", "6.5")), "{}", full.text);
    }
    expect_clean_logs(&cloud);
}
