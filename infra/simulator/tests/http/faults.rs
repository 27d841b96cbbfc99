//! The paths of faults. Tests of the service cover the effect of each fault.

use crate::client::{get, start};
use simulator::Fault;

const PAGES: &str = "/v2/skyblock/auctions";

const ENDED: &str = "/v2/skyblock/auctions_ended";

#[tokio::test]
async fn the_longest_path_takes_precedence_and_can_have_a_query() {
    let (simulator, _clock) = start().await;
    for (path, body) in [("*", "any"), ("", "pages"), ("?page=1*", "1 and 10 to 19"), ("?page=1", "1")] {
        simulator.set_fault(&format!("{PAGES}{path}"), Fault::default().with_body(body));
    }
    for (query, body) in
        [("", "pages"), ("?page=2", "pages"), ("?page=17", "1 and 10 to 19"), ("?page=1", "1")]
    {
        assert_eq!(get(&simulator, &format!("{PAGES}{query}")).await.text(), body);
    }
    assert_eq!(get(&simulator, ENDED).await.text(), "any");
    assert_eq!(simulator.requests(PAGES), 4);
}
