//! The provider's paths, statuses, headers and error bodies, over HTTP.

use std::time::Duration;

use crate::client::{get, get_with, request, start};
use simulator::{Clock, Options, Simulator, auctions, bazaar, election};

const KEY: (&str, &str) = ("API-Key", "a-key");

#[tokio::test]
async fn errors_have_the_providers_statuses_and_bodies() {
    let (simulator, _clock) = start().await;
    let keyed = [KEY];
    let invalid = [("API-Key", "invalid")];
    for (path, headers, status, body) in [
        ("/v2/skyblock/auctions?page=500", &[][..], 404, r#"{"success":false,"cause":"Page not found"}"#),
        (
            "/v2/skyblock/auctions?page=99999999999999999999",
            &[],
            404,
            r#"{"success":false,"cause":"Page not found"}"#,
        ),
        ("/v2/skyblock/auctions?page=-1", &[], 422, r#"{"success":false,"cause":"Invalid page"}"#),
        ("/v2/skyblock/auctions?page=one", &[], 422, r#"{"success":false,"cause":"Invalid page"}"#),
        ("/v2/skyblock/profiles?uuid=1", &[], 400, r#"{"success":false,"cause":"Missing API-Key header"}"#),
        ("/v2/skyblock/profiles?uuid=1", &invalid, 403, r#"{"success":false,"cause":"Invalid API key"}"#),
        ("/v2/skyblock/profiles?uuid=1", &keyed, 422, r#"{"success":false,"cause":"Malformed UUID"}"#),
        (
            "/v2/skyblock/profiles",
            &keyed,
            400,
            r#"{"success":false,"cause":"Missing one or more fields [...]"}"#,
        ),
        ("/v2/skyblock/nothing", &[], 404, r#"{"success":false,"cause":"Not found"}"#),
    ] {
        let response = get_with(&simulator, path, headers).await;
        assert_eq!((response.status, response.text().as_str()), (status, body), "{path}");
    }
    let posted = request(&simulator, "POST", "/v2/skyblock/bazaar", &[]).await;
    assert_eq!(posted.status, 405);
}

#[tokio::test]
async fn a_player_is_found_by_name_then_by_uuid_with_or_without_dashes() {
    let (simulator, _clock) = start().await;
    let player = get(&simulator, "/users/profiles/minecraft/Some_Player").await.json();
    let id = player["id"].as_str().unwrap();
    let dashed = format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]);
    for uuid in [id, &dashed] {
        let response = get_with(&simulator, &format!("/v2/skyblock/profiles?uuid={uuid}"), &[KEY]).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("ratelimit-limit"), Some("6000"));
        assert!(response.header("ratelimit-remaining").unwrap().parse::<u32>().unwrap() < 6_000);
        assert!((1..=301).contains(&response.header("ratelimit-reset").unwrap().parse::<u32>().unwrap()));
        for profile in response.json()["profiles"].as_array().unwrap() {
            assert!(profile["members"].get(id).is_some());
        }
    }
}

#[tokio::test]
async fn large_bodies_are_gzipped_on_request() {
    let (simulator, clock) = start().await;
    let gzip = [("Accept-Encoding", "gzip, br")];
    let path = "/v2/skyblock/bazaar";
    clock.stop_at(1_795_000_000_000);
    let plain = get(&simulator, path).await;
    let packed = get_with(&simulator, path, &gzip).await;
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() < plain.body.len() / 2);
    assert_eq!(packed.inflated(), plain.body);
    let small = get_with(&simulator, "/users/profiles/minecraft/someone", &gzip).await;
    assert_eq!(small.header("content-encoding"), None);
}

#[tokio::test]
async fn the_game_is_that_of_the_clock_and_requests_are_counted_without_their_query() {
    let (simulator, clock) = start().await;
    let moment = 1_700_000_000_000;
    clock.stop_at(moment);
    assert_eq!(get(&simulator, "/v2/skyblock/bazaar").await.text(), bazaar::body(1, moment));
    let page = get(&simulator, "/v2/skyblock/auctions?page=3").await;
    assert_eq!(page.json()["lastUpdated"], auctions::refreshed_at(1, 3, moment));
    assert_eq!(simulator.requests("/v2/skyblock/auctions"), 1);
    // The earliest and the latest time must not overflow.
    for moment in [0, 1_000_000_000_000, i64::MAX] {
        clock.stop_at(moment);
        for path in [
            "skyblock/bazaar",
            "skyblock/auctions?page=1",
            "skyblock/auctions_ended",
            "skyblock/firesales",
            "resources/skyblock/election",
        ] {
            assert_eq!(get(&simulator, &format!("/v2/{path}")).await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn an_advanced_clock_moves_the_game() {
    let (simulator, clock) = start().await;
    let path = "/v2/skyblock/bazaar";
    let before = get(&simulator, path).await.json();
    clock.advance(Duration::from_secs(21));
    assert_ne!(get(&simulator, path).await.json()["lastUpdated"], before["lastUpdated"]);
    let year = election::seated_year(clock.now_ms());
    clock.advance(Duration::from_hours(124));
    let mayor = get(&simulator, "/v2/resources/skyblock/election").await.json();
    assert_eq!(mayor["mayor"]["election"]["year"], year + 1);
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let (simulator, _clock) = start().await;
    let address = simulator.url().trim_start_matches("http://").parse().unwrap();
    let error = Simulator::start(Options { seed: 1, address, clock: Clock::system() }).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {address}: another program uses port {}", address.port())
    );
}
