//! Responses and upstream bodies beyond the size limits are errors, and the log has their size or the limit.
//! Long queries below the limits succeed.

use local::Cloud;
use serde_json::{Value, json};
use simulator::{Fault, Garbage};

use crate::support::{
    Response, examples, expect_clean_logs, get, in_repository, line_of, live_examples, record_prices,
    simulator, start,
};

/// The logged cause of this response, which must be a failure.
async fn cause_of(cloud: &Cloud, response: &Response) -> String {
    response.error("INTERNAL_ERROR");
    line_of(cloud, response).await["cause"].as_str().unwrap().to_owned()
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(|character: char| !character.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[tokio::test]
async fn a_response_beyond_lambdas_6_mb_is_an_error_and_the_log_has_its_size() {
    let cloud = start().await;
    let cause = cause_of(&cloud, &get(&cloud, "/v1/profile/leviathan").await).await;
    let sizes = numbers(&cause);
    assert!(sizes.iter().any(|size| *size > 8_000_000), "no size of the response: {cause}");
    assert!(sizes.iter().any(|size| (6_000_000..=6_291_556).contains(size)), "no limit: {cause}");
    // The instance survives the failure.
    let data = get(&cloud, "/v1/profile/Notch").await.data();
    assert_eq!(data["username"].as_str().unwrap().to_lowercase(), "notch");
    expect_clean_logs(&cloud);
    for line in cloud.logs() {
        assert!(
            !line.starts_with("local:"),
            "the failure must come from the function, not from Lambda: {line}"
        );
    }
}

/// The provider's response with this many rows of the captured items. Every second row has a skin of the size
/// that skins have had since 2025: a value of 424 characters, and a signature of 684.
fn items_of_real_size(count: usize) -> String {
    let capture: Value = serde_json::from_str(&captures::text("items/v2-20241015.json").unwrap()).unwrap();
    let captured = capture["items"].as_array().unwrap();
    let row = |number: usize| {
        let mut row = captured[number % captured.len()].clone();
        let fields = row.as_object_mut().unwrap();
        fields.remove("skin");
        if number >= captured.len() {
            fields["id"] = format!("{}~{}", fields["id"].as_str().unwrap(), number / captured.len()).into();
        }
        if number.is_multiple_of(2) {
            let skin = json!({"value": "e".repeat(424), "signature": "A".repeat(684)});
            fields.insert("skin".to_owned(), skin);
        }
        row
    };
    json!({"success": true, "items": (0..count).map(row).collect::<Vec<_>>()}).to_string()
}

/// The contract has the size of today's response, and the number of items at which Lambda's limit ends.
#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn ten_thousand_items_of_real_size_fit_into_a_response() {
    let cloud = start().await;
    let serve = async |count: usize| {
        let body = Fault::default().with_body(items_of_real_size(count));
        simulator(&cloud).set_fault("/v2/resources/skyblock/items", body);
        cloud.kill("items").await.unwrap();
        get(&cloud, "/v1/items?mode=full").await
    };
    let today = serve(5_600).await.text.len();
    let many = serve(10_000).await;
    assert_eq!(many.data()["items"].as_array().unwrap().len(), 10_000);
    let line = line_of(&cloud, &many).await;
    assert_eq!(line["bytes"], many.text.len());
    // The alarm `functions: large responses` reads the field.
    let payload = line["payload_bytes"].as_u64().unwrap();
    assert_eq!(payload, u64::try_from(json!(many.text).to_string().len()).unwrap());
    let thousands = 10 * 6_291_556 / payload;
    serve(usize::try_from(thousands).unwrap() * 1_000).await.data();
    serve(12_000).await.error("INTERNAL_ERROR");

    let page = std::fs::read_to_string(in_repository("functions/README.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let tenths = (today + 50_000) / 100_000;
    for expected in [
        format!("With 5,600 items, the response has {}.{} MB", tenths / 10, tenths % 10),
        format!("At about {thousands},000 items, it would exceed Lambda's limit of 6,291,556 bytes"),
    ] {
        assert!(page.contains(&expected), "functions/README.md does not say: {expected}");
    }
}

#[tokio::test]
async fn an_upstream_body_of_more_than_32_mib_is_an_error_on_every_route() {
    let cloud = start().await;
    for example in live_examples() {
        for path in &example.upstream {
            simulator(&cloud).set_fault(path, Fault::garbage(Garbage::GzipBomb));
            let cause = cause_of(&cloud, &get(&cloud, example.path).await).await;
            assert!(numbers(&cause).contains(&33_554_432), "{}: {cause}", example.path);
            // Causes never name a player.
            assert!(cause.contains(&path.replace("Notch", "[player]")), "{cause}");
            simulator(&cloud).clear_faults();
            // After a failure, the function pauses its requests to the upstream for at most two seconds.
            cloud.clock().advance(std::time::Duration::from_secs(2));
        }
        get(&cloud, example.path).await.data();
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_query_of_twelve_hundred_parameters_is_read_to_its_end() {
    let cloud = start().await;
    let padding = (0..1_200).map(|number| format!("p{number}=x")).collect::<Vec<_>>().join("&");
    assert!(padding.len() > 8_192);
    record_prices(&cloud, cloud.clock().now_ms()).await;
    for example in examples() {
        let separator = if example.path.contains('?') { '&' } else { '?' };
        get(&cloud, &format!("{}{separator}{padding}", example.path)).await.data();
    }
    let data = get(&cloud, &format!("/v1/bazaar?mode=flips&limit=1&{padding}&limit=1")).await.data();
    assert_eq!(data["count"], 1);
    let path = format!("/v1/bazaar?mode=flips&limit=1&{padding}&limit=2");
    let message = get(&cloud, &path).await.error("BAD_REQUEST");
    assert!(message.contains("'limit' must be given once"), "{message}");
    expect_clean_logs(&cloud);
}
