//! Names and texts of the provider are text, never markup.

use super::{open, settle};
use crate::cloud::{ITEM, NAME, start};
use crate::hostile::{MARKUP, make_hostile};

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_in_names_is_shown_as_text_and_codes_are_not_shown() {
    let cloud = start().await;
    make_hostile(&cloud);
    let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
    let event = format!(r#"{{"time":"{time}","backfill":true}}"#);
    for recorder in ["record-mayor", "record-fire-sales"] {
        cloud.invoke(recorder, event.clone()).await.unwrap();
    }
    let window = open(&cloud, "?view=mayor").await;
    // Names of flips are in the catalogue only in part, so markup need not be shown there.
    let item = format!("?item={ITEM}&range=7d");
    for (query, has_markup) in
        [("?view=mayor", true), ("?view=sales", false), ("?view=flips", false), (item.as_str(), true)]
    {
        window.open(&format!("/market{query}")).await;
        window.wait("document.querySelector('h1')").await;
        settle(&window).await;
        let text = window.text().await;
        assert!(!has_markup || text.contains(MARKUP), "{query}: {text}");
        for code in ["§", "%%", "\u{202e}"] {
            assert!(!text.contains(code), "{query} shows {code:?}: {text}");
        }
        assert_eq!(window.evaluate("document.querySelectorAll('#app img, #app script').length").await, 0);
        assert_eq!(window.evaluate("typeof isHarmed").await, "undefined");
    }
    assert_eq!(window.title().await, format!("{NAME}{MARKUP} – Market"));
    window.expect_clean(&[]);
}
