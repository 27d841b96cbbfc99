//! `before` leads from one page of mayors or fire sales to the next, and every entry is on exactly one page.

use local::Cloud;
use serde_json::{Value, json};

use super::table;
use super::{HOUR, MINUTE, START, rfc3339, start};
use crate::support::{expect_clean_logs, get_at};

/// Requests pages until one is empty. `first` is added to `path` for the first page. For each further page,
/// `before` is the value of `field` in the last entry of the previous page.
async fn pages(cloud: &Cloud, path: &str, first: &str, field: &str) -> Vec<Vec<Value>> {
    let mut pages = Vec::new();
    let mut before = first.to_owned();
    loop {
        let data = get_at(cloud, &format!("{path}{before}"), START * 1_000).await.data();
        let Value::Array(page) = &data["history"] else { panic!("{data}") };
        let Some(last) = page.last() else { return pages };
        before = format!("&before={}", last[field].as_str().unwrap());
        pages.push(page.clone());
    }
}

fn names(pages: &[Vec<Value>], field: &str) -> Vec<String> {
    pages.iter().flatten().map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_mayor_is_on_exactly_one_page() {
    let cloud = start().await;
    let years = (250..400).filter(|year| year % 7 != 0);
    table::put(&cloud, years.clone().map(table::mayor)).await;
    let expected: Vec<_> = years.rev().map(|year| format!("M{year}")).collect();
    for (limit, first) in [(1, ""), (24, ""), (100, "&before=9999-12-31T23:59:59Z")] {
        let walked = pages(&cloud, &format!("/v1/mayor/history?limit={limit}"), first, "started_at").await;
        assert_eq!(names(&walked, "name"), expected, "{limit}");
        assert!(walked.iter().rev().skip(1).all(|page| page.len() == limit), "{limit}");
    }
    // A `before` that is a fraction of a second after the start of the last term includes that term.
    let newest = get_at(&cloud, "/v1/mayor/history?limit=1", START * 1_000).await.data();
    let begun = newest["history"][0]["started_at"].as_str().unwrap().replace('Z', ".001Z");
    let path = format!("/v1/mayor/history?limit=1&before={begun}");
    assert_eq!(get_at(&cloud, &path, START * 1_000).await.data(), newest);
    for before in ["0000-01-01T00:00:00Z", "2019-06-11T00:00:00Z"] {
        let path = format!("/v1/mayor/history?before={before}");
        assert_eq!(get_at(&cloud, &path, START * 1_000).await.data(), json!({"history": []}));
    }
    expect_clean_logs(&cloud);
}

/// Several sales were first recorded in the same minute, before or after their start.
#[tokio::test]
async fn every_fire_sale_is_on_exactly_one_page_however_many_were_seen_together() {
    let cloud = start().await;
    let mut rng = fastrand::Rng::with_seed(5);
    let mut sales = Vec::new();
    for number in 0..90 {
        let recorded_at = START - rng.i64(0..25) * MINUTE;
        let begins = (START + rng.i64(-3..3) * HOUR) * 1_000;
        sales.push((recorded_at, begins, format!("SKIN_{number:02}")));
    }
    let rows = sales.iter().map(|(recorded_at, begins, id)| table::sale(id, *begins, *recorded_at));
    table::put(&cloud, rows).await;
    sales.sort();
    sales.reverse();
    let expected: Vec<_> = sales.iter().map(|(_, _, id)| id.clone()).collect();
    let now = format!("&before={}", rfc3339(START + 1));
    for limit in [1, 7, 50, 200] {
        let path = format!("/v1/fire-sales/history?limit={limit}");
        let walked = pages(&cloud, &path, &now, "recorded_at").await;
        assert_eq!(names(&walked, "item_id"), expected, "{limit}");
        for page in &walked[..walked.len() - 1] {
            let whole = &page[..page.len().min(limit)];
            assert!(
                whole.len() == limit
                    && page[limit..]
                        .iter()
                        .all(|more| { more["recorded_at"] == whole[limit - 1]["recorded_at"] }),
                "{limit}: {page:?}"
            );
        }
    }
    // Without `before`, the response has the sales that start last, 50 by default.
    sales.sort_by(|one, other| (other.1, &other.2).cmp(&(one.1, &one.2)));
    for (query, count) in [("", 50), ("?limit=7", 7)] {
        let latest = get_at(&cloud, &format!("/v1/fire-sales/history{query}"), START * 1_000).await.data();
        let expected: Vec<_> = sales.iter().take(count).map(|(_, _, id)| id.clone()).collect();
        let Value::Array(latest) = &latest["history"] else { panic!("{latest}") };
        assert_eq!(names(std::slice::from_ref(latest), "item_id"), expected);
    }
    expect_clean_logs(&cloud);
}
