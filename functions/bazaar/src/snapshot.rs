//! One refresh of the bazaar. There are two ways to read it: as raw products and as prices. Each is read when a mode first
//! needs it, so that no request waits for the one that it does not need. What is read as prices keeps the body, too, for the
//! orders of single products.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use common::cache::Weight;
use common::envelope::Document;
use common::json::ObjectText;
use common::time::UnixMilliseconds;
use common::upstream::{Refresh, UpstreamError, UpstreamResponse, bazaar};
use serde::Serialize;

use crate::market::Market;

/// The data of `mode=full`, in the shape of [`crate::schema::Bazaar`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Full<'a> {
    last_updated: i64,
    products: ObjectText<'a>,
}

/// One refresh of the bazaar.
#[derive(Debug)]
pub struct Snapshot {
    response: UpstreamResponse,
    full: OnceLock<Result<Arc<Document>, UpstreamError>>,
    market: OnceLock<Result<Arc<Market>, UpstreamError>>,
    /// The provider's refresh, once a way of reading it has shown that.
    refresh: OnceLock<Refresh>,
    /// An earlier snapshot that was not read in both ways.
    earlier: Mutex<Option<Earlier>>,
}

/// A snapshot that another one has replaced.
#[derive(Debug, Clone)]
pub struct Earlier {
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
    /// When it was fetched.
    pub fetched_at: UnixMilliseconds,
}

impl Snapshot {
    /// The snapshot in the provider's response, not yet parsed.
    #[must_use]
    pub const fn new(response: UpstreamResponse) -> Self {
        Self {
            response,
            full: OnceLock::new(),
            market: OnceLock::new(),
            refresh: OnceLock::new(),
            earlier: Mutex::new(None),
        }
    }

    /// Lets this snapshot replace `latest`. A mode that this one turns out to be invalid for may need an earlier one that it
    /// has not read yet: the oldest that `may_serve` allows, as the last ones are the most likely to be invalid, too. So may
    /// `mode=book` if this one is known to have no order books. All others are dropped, so that no more than two bodies are in
    /// memory.
    #[must_use]
    pub fn replacing(self, latest: Earlier, may_serve: impl Fn(UnixMilliseconds) -> bool) -> Self {
        let oldest = latest.snapshot.lock_earlier().take();
        let kept = latest.snapshot.refresh().map(|refresh| (refresh, latest.fetched_at));
        let refresh = self.refresh().map(|refresh| refresh.replacing(kept));
        let lacks_books = self.has_books() == Some(false);
        let is_needed = |one: &Earlier| {
            let may_have_books = one.snapshot.has_books() != Some(false);
            one.snapshot.is_unread() || (lacks_books && may_have_books)
        };
        let mut candidates = [oldest, Some(latest)].into_iter().flatten();
        let earlier = candidates.find(|one| is_needed(one) && may_serve(one.fetched_at));
        Self {
            earlier: Mutex::new(earlier),
            refresh: refresh.map(OnceLock::from).unwrap_or_default(),
            ..self
        }
    }

    /// Returns the snapshot that this one has replaced, if it may be needed.
    #[must_use]
    pub fn earlier(&self) -> Option<Earlier> {
        self.lock_earlier().clone()
    }

    fn lock_earlier(&self) -> MutexGuard<'_, Option<Earlier>> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a way of reading it was not tried yet.
    fn is_unread(&self) -> bool {
        self.full.get().is_none() || self.market.get().is_none()
    }

    /// Whether `mode=book` can be served from it; `None` if that is unknown, because it was not read as prices yet.
    fn has_books(&self) -> Option<bool> {
        Some(self.market.get()?.as_ref().is_ok_and(|market| market.last_updated().is_some()))
    }

    /// Returns the data of `mode=full`: the provider's products, byte for byte.
    ///
    /// # Errors
    /// If the provider's response is invalid.
    pub fn full(&self) -> Result<Arc<Document>, UpstreamError> {
        self.full.get_or_init(|| self.read_full()).clone()
    }

    /// Returns the products and their prices, for the other modes.
    ///
    /// # Errors
    /// If the provider's response is invalid, or more than half of its products are.
    pub fn market(&self) -> Result<Arc<Market>, UpstreamError> {
        self.market.get_or_init(|| self.read_market()).clone()
    }

    /// Returns the provider's refresh, if a way of reading it has shown that.
    #[must_use]
    pub fn refresh(&self) -> Option<Refresh> {
        self.refresh.get().copied()
    }

    fn read_full(&self) -> Result<Arc<Document>, UpstreamError> {
        let bazaar::Bazaar { last_updated, products, .. } = self.response.parse()?;
        self.refresh.get_or_init(|| Refresh::at(last_updated));
        let document = Document::passing(&Full { last_updated, products }, &self.response.body);
        document.map(Arc::new).map_err(|error| self.response.invalid(error))
    }

    fn read_market(&self) -> Result<Arc<Market>, UpstreamError> {
        let market = Market::of(&self.response)?;
        if let Some(last_updated) = market.last_updated() {
            self.refresh.get_or_init(|| Refresh::at(last_updated));
        }
        Ok(Arc::new(market))
    }
}

impl Weight for Snapshot {
    fn bytes(&self) -> usize {
        self.response.body.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use common::config::Config;
    use common::invocation::Invocation;
    use common::lambda::Handler;
    use common::request::{ProxyEvent, Request};
    use common::upstream::Text;
    use simulator::{Clock, Fault, Options, Simulator};
    use tokio::time::{Duration, Instant};

    use super::*;
    use crate::Bazaar;

    const GOOD: &str = r#"{"success":true,"lastUpdated":1,"products":{}}"#;

    /// The snapshots of 20 refreshes, each fetched a second after the one before, of which `read` reads something.
    fn refreshes(read: impl Fn(&Snapshot), oldest: i64) -> Vec<Arc<Snapshot>> {
        let snapshot = || Snapshot::new(UpstreamResponse::new(bazaar::PATH, GOOD.to_owned()));
        let mut snapshots = vec![Arc::new(snapshot())];
        for second in 0..20 {
            let latest = Arc::clone(snapshots.last().unwrap());
            read(&latest);
            let latest = Earlier { snapshot: latest, fetched_at: UnixMilliseconds::new(second) };
            let next = snapshot().replacing(latest, |fetched_at| fetched_at.get() >= second - oldest);
            snapshots.push(Arc::new(next));
        }
        snapshots
    }

    fn kept(snapshots: &[Arc<Snapshot>]) -> Vec<i64> {
        snapshots.iter().filter_map(|one| one.earlier()).map(|one| one.fetched_at.get()).collect()
    }

    #[test]
    fn at_most_one_earlier_snapshot_stays_in_memory() {
        // The oldest that was not read in both ways, while it may be served.
        assert_eq!(kept(&refreshes(|_| (), 100)), [0]);
        assert_eq!(kept(&refreshes(|latest| drop(latest.full()), 100)), [0]);
        assert_eq!(kept(&refreshes(|latest| drop(latest.market()), 100)), [0]);
        assert_eq!(kept(&refreshes(|_| (), 7)), [16]);
        assert_eq!(kept(&refreshes(|_| (), -1)), [] as [i64; 0]);
    }

    fn request(mode: &str, now: UnixMilliseconds) -> Request {
        let event = format!(
            r#"{{"resource":"/v1/bazaar","path":"/v1/bazaar","httpMethod":"GET","requestContext":{{}},
                "queryStringParameters":{{"mode":"{mode}","id":"A","ids":"A"}}}}"#
        );
        let event: ProxyEvent = serde_json::from_str(&event).unwrap();
        let invocation = Invocation::new(now, Instant::now() + Duration::from_secs(10));
        Request::new(event, Bazaar::ROUTE, invocation)
    }

    /// That of the latest snapshot, that of the earlier one, and that of `mode=full` or the prices, whichever is older.
    #[tokio::test]
    async fn at_most_three_bodies_stay_in_memory() {
        let options = Options { seed: 1, address: ([127, 0, 0, 1], 0).into(), clock: Clock::system() };
        let simulator = Simulator::start(options).await.unwrap();
        let config =
            Config::from_lookup(|name| (name == "HYPIXEL_BASE_URL").then(|| simulator.url())).unwrap();
        let handler = Bazaar::new(&config).unwrap();
        let product = r#""A":{"sell_summary":[],"buy_summary":[],"quick_status":{"sellPrice":1,"buyPrice":2,
            "sellVolume":1,"buyVolume":1,"sellMovingWeek":1,"buyMovingWeek":1}}"#;
        let good = GOOD.replace("{}", &format!("{{{product}}}"));
        let bodies = [
            good.clone(),
            good.replace(r#""lastUpdated":1,"#, ""),
            good.replace("sell_summary", "other"),
            GOOD.replace("{}", r#"{"A":null}"#),
        ];
        let rng = &mut fastrand::Rng::with_seed(1);
        let (mut now, mut most) = (UnixMilliseconds::new(1_777_388_600_000), 0);
        let mut seen = Vec::<Weak<Text>>::new();
        for _ in 0..3_000 {
            now = now.plus(Duration::from_secs(rng.choice([0, 1, 5, 5, 5, 20]).unwrap()));
            // Mostly good ones.
            let body = bodies.get(rng.usize(..8)).unwrap_or(&good);
            simulator.set_fault(bazaar::PATH, Fault::default().with_body(body));
            let mode = rng.choice(["full", "item", "items", "book"]).unwrap();
            drop(handler.handle(&request(mode, now)).await);
            if let Some(latest) = handler.latest.kept(&(), now) {
                let body = Arc::downgrade(&latest.value.response.body);
                if !seen.iter().any(|known| known.ptr_eq(&body)) {
                    seen.push(body);
                }
            }
            seen.retain(|body| body.strong_count() > 0);
            assert!(seen.len() <= 3, "{} bodies", seen.len());
            most = most.max(seen.len());
        }
        assert_eq!(most, 3);
    }

    #[test]
    fn the_last_snapshot_with_order_books_is_kept_as_long_as_later_ones_have_none() {
        let read = |body: &str| {
            let snapshot = Snapshot::new(UpstreamResponse::new(bazaar::PATH, body.to_owned()));
            snapshot.market().unwrap();
            drop(snapshot.full());
            snapshot
        };
        let replacing = |snapshot: Snapshot, latest: Snapshot, second: i64| {
            let fetched_at = UnixMilliseconds::new(second);
            snapshot.replacing(Earlier { snapshot: Arc::new(latest), fetched_at }, |_| true)
        };
        let kept = |snapshot: &Snapshot| snapshot.earlier().map(|earlier| earlier.fetched_at.get());
        let undated = GOOD.replace(r#""lastUpdated":1,"#, "");
        let first = replacing(read(GOOD), read(GOOD), 0);
        assert_eq!(kept(&first), None);
        let second = replacing(read(&undated), first, 1);
        assert_eq!(kept(&second), Some(1));
        let third = replacing(read(&undated), second, 2);
        assert_eq!(kept(&third), Some(1));
        assert_eq!(kept(&replacing(read(GOOD), third, 3)), None);
    }

    #[test]
    fn a_snapshot_that_was_read_in_both_ways_is_dropped() {
        let read = |latest: &Snapshot| {
            latest.full().unwrap();
            latest.market().unwrap();
        };
        assert_eq!(kept(&refreshes(read, 100)), [] as [i64; 0]);
    }
}
