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

#[tokio::test]
async fn a_function_can_choose_the_fault_of_a_request() {
    let (simulator, _clock) = start().await;
    simulator.choose_faults(|path, query| match query {
        "page=0" => Fault::default(),
        query => Fault::default().with_body(format!("{path} {query}")),
    });
    simulator.set_fault(ENDED, Fault::default().with_body("set"));
    assert_eq!(get(&simulator, &format!("{PAGES}?page=0")).await.json()["page"], 0);
    assert_eq!(get(&simulator, &format!("{PAGES}?page=1")).await.text(), format!("{PAGES} page=1"));
    assert_eq!(get(&simulator, ENDED).await.text(), "set");
    assert_eq!(simulator.requests(PAGES), 2);
}
