//! An invalid row of the provider is left out, and the other rows are served. A response fails only if too
//! many rows are invalid. The valid and invalid values of every field are in the descriptions of the
//! resources.

mod auctions;
mod bazaar;
mod election;
mod items;
mod snapshots;
mod table;

use std::collections::BTreeSet;

use common::routes::{Reads, VERSION_1};
use futures_util::future::join_all;

use crate::provider::{ParsedResource, parsed};

fn listing() -> impl Iterator<Item = &'static ParsedResource> {
    parsed().filter(|resource| resource.route.is_some())
}

#[test]
fn every_parsed_resource_is_described() {
    let provided = VERSION_1.into_iter().filter(|route| matches!(route.reads, Reads::Provider(_)));
    let read: BTreeSet<_> = provided.flat_map(|route| route.reads.paths()).copied().collect();
    let described = listing().map(|resource| resource.path);
    assert_eq!(read, described.chain(["/users/profiles/minecraft/{username}"]).collect());
}

#[tokio::test]
async fn an_invalid_row_is_left_out() {
    join_all(listing().map(ParsedResource::expect_table)).await;
}

#[tokio::test]
async fn a_response_fails_only_if_too_many_rows_are_invalid() {
    join_all(listing().map(ParsedResource::expect_limit)).await;
}
