//! The floor of a response that is fetched, the plain pipeline: fetch the compressed body, unpack it in one go into a
//! buffer that stays, read the fields that are needed, and write the escaped body of the response. No Runtime API, no checks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::io::{self, BufRead as _, Read as _, Write as _};

use clap::ValueEnum;
use flate2::read::GzDecoder;
use reqwest::Client;
use reqwest::header::ACCEPT_ENCODING;
use rustls::crypto::ring;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::upstream::PLAYER;

/// What the plain pipeline makes.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Pipeline {
    /// All products, passed through.
    Bazaar,
    /// The best flips. The modes `list`, `item`, `items` and `book` read as much.
    Flips,
    /// A page of auctions.
    Auctions,
    /// The catalogue.
    Items,
    /// A player and their profiles.
    Profile,
    /// The mayor, passed through.
    Mayor,
    /// The fire sales, passed through.
    FireSales,
    /// A query of 90 days. Nothing is made of its rows.
    Query,
    /// The response to that query, fetched once and read each time.
    Reading,
}

type Failure = Box<dyn Error>;

impl Pipeline {
    fn path(self) -> &'static str {
        match self {
            Self::Bazaar | Self::Flips => "/v2/skyblock/bazaar",
            Self::Auctions => "/v2/skyblock/auctions?page=0",
            Self::Items => "/v2/resources/skyblock/items",
            Self::Profile => "/v2/skyblock/profiles?uuid=",
            Self::Mayor => "/v2/resources/skyblock/election",
            Self::FireSales => "/v2/skyblock/firesales",
            Self::Query | Self::Reading => "/",
        }
    }

    /// Whether the body comes from DynamoDB.
    pub(crate) const fn is_of_database(self) -> bool {
        matches!(self, Self::Query | Self::Reading)
    }

    fn shape(self, body: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.is_of_database() {
            history_response::read(body)?;
            return Ok(());
        }
        let body = std::str::from_utf8(body)?;
        match self {
            Self::Bazaar => full(body, out),
            Self::Flips => flips(body, out),
            Self::Auctions => again::<Auctions>(body, out),
            Self::Items => again::<Items>(body, out),
            Self::Profile => again::<Profiles>(body, out),
            _ => again::<&RawValue>(body, out),
        }
    }
}

/// A fetched body, and the buffers that stay.
struct Runner {
    client: Client,
    base_url: String,
    plain: Vec<u8>,
    out: Vec<u8>,
}

impl Runner {
    async fn run(&mut self, pipeline: Pipeline) -> Result<(), Failure> {
        if pipeline != Pipeline::Reading || self.plain.is_empty() {
            self.fetch_for(pipeline).await?;
        }
        self.out.clear();
        pipeline.shape(&self.plain, &mut self.out)
    }

    async fn fetch_for(&mut self, pipeline: Pipeline) -> Result<(), Failure> {
        let target = match pipeline {
            Pipeline::Profile => {
                self.fetch(&format!("/users/profiles/minecraft/{PLAYER}")).await?;
                let player: Player = serde_json::from_slice(&self.plain)?;
                format!("{}{}", pipeline.path(), player.id)
            }
            _ => pipeline.path().to_owned(),
        };
        self.fetch(&target).await
    }

    async fn fetch(&mut self, target: &str) -> Result<(), Failure> {
        let request = self.client.get(format!("{}{target}", self.base_url)).header(ACCEPT_ENCODING, "gzip");
        let body = request.send().await?.error_for_status()?.bytes().await?;
        self.plain.clear();
        // The upstream compresses what is not tiny.
        if body.starts_with(&[0x1f, 0x8b]) {
            GzDecoder::new(&body[..]).read_to_end(&mut self.plain)?;
        } else {
            self.plain.extend_from_slice(&body);
        }
        Ok(())
    }
}

/// Makes the response as often as each line of standard input says, and then prints a line.
///
/// # Errors
/// A sentence, when the upstream does not respond as it should.
pub(crate) async fn run(base_url: &str, pipeline: Pipeline) -> Result<(), String> {
    repeat(base_url, pipeline).await.map_err(|error| format!("the plain pipeline fails: {error}"))
}

async fn repeat(base_url: &str, pipeline: Pipeline) -> Result<(), Failure> {
    // The client requires one, although it opens no connection with TLS.
    let _ = ring::default_provider().install_default();
    let client = Client::builder().build()?;
    let base_url = base_url.to_owned();
    let mut runner = Runner { client, base_url, plain: Vec::new(), out: Vec::new() };
    for line in io::stdin().lock().lines() {
        for _ in 0..line?.trim().parse()? {
            runner.run(pipeline).await?;
        }
        writeln!(io::stdout(), "{}", runner.out.len())?;
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Full<'a> {
    last_updated: u64,
    #[serde(borrow)]
    products: &'a RawValue,
}

fn full(body: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
    let full: Full = serde_json::from_str(body)?;
    let data = format!(r#"{{"lastUpdated":{},"products":{}}}"#, full.last_updated, full.products.get());
    Ok(serde_json::to_writer(out, &data)?)
}

#[derive(Deserialize)]
struct Bazaar<'a> {
    #[serde(borrow)]
    products: HashMap<&'a str, Product>,
}

#[derive(Deserialize)]
struct Product {
    quick_status: Status,
}

#[derive(Deserialize, Serialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
struct Status {
    sell_price: f64,
    buy_price: f64,
    sell_volume: i64,
    buy_volume: i64,
    sell_moving_week: i64,
    buy_moving_week: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Flip<'a> {
    id: &'a str,
    #[serde(flatten)]
    status: Status,
    spread: f64,
    spread_percent: f64,
}

fn flips(body: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
    let bazaar: Bazaar = serde_json::from_str(body)?;
    let is_traded = |status: &Status| {
        status.sell_price >= 50_000.0 && status.sell_volume >= 10_000 && status.buy_volume >= 10_000
    };
    let products = bazaar.products.iter().filter(|(_, product)| is_traded(&product.quick_status));
    let mut flips: Vec<_> = products.map(|(id, product)| flip(id, product.quick_status)).collect();
    flips.sort_by(|a, b| b.spread_percent.total_cmp(&a.spread_percent).then_with(|| a.id.cmp(b.id)));
    flips.truncate(20);
    Ok(serde_json::to_writer(out, &serde_json::to_string(&flips)?)?)
}

fn flip(id: &str, status: Status) -> Flip<'_> {
    let spread = status.buy_price - status.sell_price;
    Flip { id, status, spread, spread_percent: spread / status.sell_price * 100.0 }
}

#[derive(Deserialize, Serialize)]
struct Auctions<'a> {
    #[serde(borrow)]
    auctions: Vec<Auction<'a>>,
}

#[derive(Deserialize, Serialize)]
struct Auction<'a> {
    uuid: Cow<'a, str>,
    auctioneer: Cow<'a, str>,
    #[serde(borrow)]
    item_name: &'a RawValue,
    #[serde(borrow)]
    item_lore: &'a RawValue,
    starting_bid: i64,
    highest_bid_amount: i64,
    bin: bool,
    start: i64,
    end: i64,
}

#[derive(Deserialize, Serialize)]
struct Items<'a> {
    #[serde(borrow)]
    items: Vec<Item<'a>>,
}

#[derive(Deserialize, Serialize)]
struct Item<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    name: &'a RawValue,
    #[serde(borrow)]
    material: &'a RawValue,
    #[serde(borrow)]
    tier: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Player {
    id: String,
}

#[derive(Deserialize, Serialize)]
struct Profiles<'a> {
    #[serde(borrow)]
    profiles: Vec<Profile<'a>>,
}

#[derive(Deserialize, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the provider")]
struct Profile<'a> {
    #[serde(borrow)]
    profile_id: &'a RawValue,
    #[serde(borrow)]
    cute_name: &'a RawValue,
    selected: Option<bool>,
    #[serde(borrow)]
    members: &'a RawValue,
}

/// The document of the fields that `T` has, written again.
fn again<'a, T: Deserialize<'a> + Serialize>(body: &'a str, out: &mut Vec<u8>) -> Result<(), Failure> {
    let document: T = serde_json::from_str(body)?;
    Ok(serde_json::to_writer(out, &serde_json::to_string(&document)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(pipeline: Pipeline, body: &str) -> String {
        let mut out = Vec::new();
        pipeline.shape(body.as_bytes(), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_pipeline_writes_the_fields_of_the_response_as_an_escaped_text() {
        let body = r#"{"lastUpdated":1,"products":{"A":{}}}"#;
        assert_eq!(shaped(Pipeline::Bazaar, body), body);
        let status = r#"{"sellPrice":1e5,"buyPrice":2e5,"sellVolume":10000,"buyVolume":10000,"sellMovingWeek":1,"buyMovingWeek":1}"#;
        let flips =
            shaped(Pipeline::Flips, &format!(r#"{{"products":{{"A":{{"quick_status":{status}}}}}}}"#));
        assert!(flips.contains(r#""spreadPercent":100.0"#), "{flips}");
        let profiles = r#"{"profiles":[{"profile_id":"p","cute_name":"Kiwi","selected":true,"members":{}}]}"#;
        assert_eq!(shaped(Pipeline::Profile, profiles), profiles);
    }
    #[test]
    fn a_history_is_read_and_nothing_is_written() {
        let mut out = Vec::new();
        for pipeline in [Pipeline::Query, Pipeline::Reading] {
            pipeline.shape(history_response::body().as_bytes(), &mut out).unwrap();
            assert!(pipeline.shape(b"{}", &mut out).is_err());
        }
        assert!(out.is_empty());
    }
}
