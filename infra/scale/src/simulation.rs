//! The simulation: requests arrive, and each passes the gateway, the authorizer, the usage plan, the throttle of its route, the
//! stage cache and a function, as in a deployment.

use std::collections::BinaryHeap;

use crate::assumptions::{
    GATEWAY_BURST, GATEWAY_MS, GATEWAY_RATE, INVOCATIONS_PER_CONCURRENCY, INVOKE_MS, RESPONSE_BYTES_PER_MS,
    RUNTIME_MS, WHOLE_PROCESSOR_MB,
};
use crate::chance::Chance;
use crate::deployment::{AUTHORIZER, Deployment, FUNCTIONS, Source};
use crate::event::{Event, Finished, Request};
use crate::figures::float;
use crate::memory::Kept;
use crate::outcome::Outcome;
use crate::plan::{Plan, Waits};
use crate::pool::{Place, Pool};
use crate::provider::Provider;
use crate::schedule::{Arrival, Schedule};
use crate::stage_cache::StageCache;
use crate::throttle::Bucket;
use crate::workload::Kind;

/// For how many TTLs a response may be served after it has expired, if there is no newer one.
const STALE_TTLS: f64 = 10.0;
/// The question of functions with one snapshot for all questions.
const SNAPSHOT: usize = usize::MAX;

/// Returns what happens.
#[must_use]
pub fn simulate(plan: &Plan<'_>, deployment: &Deployment) -> Outcome {
    let schedule = Schedule::new(plan.seed, plan.requests_per_s, plan.keys, plan.kinds);
    let mut simulation = Simulation::new(plan, deployment);
    let end = plan.warm_up_s + plan.measured_s;
    for arrival in schedule {
        if arrival.at >= end {
            break;
        }
        simulation.advance(arrival.at, plan.warm_up_s);
        simulation.arrive(arrival);
    }
    simulation.advance(end, plan.warm_up_s);
    simulation.into_outcome(plan)
}

/// A key in use.
struct Key {
    authorized_until: f64,
    bucket: Bucket,
}

struct Simulation<'plan> {
    deployment: &'plan Deployment,
    kinds: &'plan [Kind],
    /// The index of each kind's pool.
    pool_of: Vec<usize>,
    pools: Vec<Pool>,
    waits: Waits,
    stage_cache: StageCache,
    keys: Vec<Key>,
    gateway: Bucket,
    invocations: Bucket,
    provider: Provider,
    /// For what varies in the service, so that it does not change what clients do.
    chance: Chance,
    events: BinaryHeap<Event>,
    events_so_far: u64,
    next_sample_at: f64,
    samples: f64,
    is_measuring: bool,
    outcome: Outcome,
}

impl<'plan> Simulation<'plan> {
    fn new(plan: &Plan<'plan>, deployment: &'plan Deployment) -> Self {
        let [key_rate, key_burst] = deployment.key;
        let unreserved = deployment.account_concurrency * INVOCATIONS_PER_CONCURRENCY;
        let pool_of = |kind: &Kind| FUNCTIONS.iter().position(|function| function.name == kind.function);
        Self {
            deployment,
            kinds: plan.kinds,
            pool_of: plan.kinds.iter().map(|kind| pool_of(kind).unwrap_or_default()).collect(),
            pools: FUNCTIONS.iter().map(|function| Pool::new(function, deployment)).collect(),
            waits: plan.waits,
            stage_cache: StageCache::new(deployment.stage_cache, plan.kinds.len(), FUNCTIONS.len()),
            keys: (0..plan.keys)
                .map(|_| Key { authorized_until: 0.0, bucket: Bucket::new(key_rate, key_burst) })
                .collect(),
            gateway: Bucket::new(GATEWAY_RATE, GATEWAY_BURST),
            invocations: Bucket::new(unreserved, unreserved),
            provider: Provider::new(deployment.profile_fetches),
            chance: Chance::new(plan.waits.seed),
            events: BinaryHeap::new(),
            events_so_far: 0,
            next_sample_at: 0.0,
            samples: 0.0,
            is_measuring: false,
            outcome: Outcome::new(),
        }
    }

    /// Lets everything happen that happens up to this time.
    fn advance(&mut self, to: f64, measured_from: f64) {
        loop {
            let next = self.events.peek().map_or(f64::INFINITY, |event| event.at);
            let at = next.min(self.next_sample_at);
            if at > to {
                break;
            }
            if !self.is_measuring && at >= measured_from {
                self.begin();
            }
            if next <= self.next_sample_at {
                let Some(event) = self.events.pop() else { break };
                self.finish(&event);
            } else {
                self.sample();
            }
        }
        if !self.is_measuring && to >= measured_from {
            self.begin();
        }
    }

    /// Forgets what was counted so far.
    fn begin(&mut self) {
        self.is_measuring = true;
        self.outcome = Outcome::new();
        self.provider.fetched_at.clear();
        self.samples = 0.0;
    }

    /// Counts instances and bytes, once a second.
    fn sample(&mut self) {
        let now = self.next_sample_at;
        self.next_sample_at += 1.0;
        self.samples += 1.0;
        for pool in &mut self.pools {
            pool.end_idle(now);
        }
        self.outcome.instances += float(self.pools.iter().map(|pool| pool.alive).sum());
        self.outcome.stage_cache_bytes = self.outcome.stage_cache_bytes.max(self.stage_cache.bytes(now));
    }

    fn arrive(&mut self, arrival: Arrival) {
        self.outcome.requests += 1.0;
        if !self.gateway.take(arrival.at) {
            self.outcome.failures.gateway += 1.0;
            return;
        }
        let request = Request { arrival, pool: self.pool_of.get(arrival.kind).copied().unwrap_or_default() };
        let is_authorized = self.keys.get(arrival.key).is_some_and(|key| arrival.at < key.authorized_until);
        if is_authorized {
            self.admit(request, arrival.at);
        } else {
            self.authorize(request, arrival.at);
        }
    }

    fn authorize(&mut self, request: Request, now: f64) {
        let authorizer = FUNCTIONS.len() - 1;
        let Some(place) = self.take(authorizer, now) else { return };
        let Some(kind) = crate::workload::KINDS.iter().find(|kind| kind.function == AUTHORIZER) else {
            return;
        };
        let waiting_s = self.wait(self.waits.table) / 1_000.0;
        self.outcome.read_units += kind.read_units;
        let [first_ms, fetched_ms, _] = kind.processor_ms;
        let processor_ms = if place.is_cold { first_ms } else { fetched_ms };
        let at = self.run(authorizer, place, now, waiting_s, processor_ms, kind.bytes[0]);
        self.later(at, request, place.instance, Finished::Decision);
    }

    /// Passes an authorized request through usage plan, throttle and stage cache.
    fn admit(&mut self, request: Request, now: f64) {
        let Arrival { kind, key, at: started_at, .. } = request.arrival;
        if !self.keys.get_mut(key).is_some_and(|key| key.bucket.take(now)) {
            self.outcome.failures.key += 1.0;
            return;
        }
        if !self.pools.get_mut(request.pool).is_some_and(|pool| pool.route.take(now)) {
            self.outcome.failures.route += 1.0;
            return;
        }
        if self.stage_cache.has(request.arrival, now) {
            self.outcome.stage_cache_hits += 1.0;
            self.respond(kind, (now - started_at) * 1_000.0 + GATEWAY_MS);
            return;
        }
        self.invoke(request, now);
    }

    fn invoke(&mut self, request: Request, now: f64) {
        let Some(place) = self.take(request.pool, now) else { return };
        let Some(kind) = self.kinds.get(request.arrival.kind) else { return };
        let start = if place.is_cold { now + self.waits.start / 1_000.0 } else { now };
        let question = if kind.one_snapshot {
            SNAPSHOT
        } else {
            request.arrival.kind + request.arrival.question * self.kinds.len()
        };
        let kept = self.kept(request.pool, place, question, now);
        let [first_ms, fetched_ms, remembered_ms] = kind.processor_ms;
        let (waiting_s, processor_ms, result) = match kept.filter(|kept| now < kept.fresh_until) {
            Some(kept) => ((kept.ready_at - start).max(0.0), remembered_ms, Finished::Response),
            None => {
                if let Some(waiting_s) = self.fetch(request.pool, place, kind, start) {
                    let processor_ms = if place.is_cold { first_ms } else { fetched_ms };
                    self.keep(request.pool, place, kind, question, start, waiting_s + processor_ms / 1_000.0);
                    (waiting_s, processor_ms, Finished::Response)
                } else {
                    let is_stale = kept.is_some_and(|kept| self.may_be_stale(request.pool, kept, now));
                    (0.0, remembered_ms, if is_stale { Finished::Response } else { Finished::Failure })
                }
            }
        };
        let at = self.run(request.pool, place, now, start - now + waiting_s, processor_ms, kind.bytes[0]);
        self.later(at, request, place.instance, result);
    }

    /// A place for a request, unless Lambda throttles it.
    fn take(&mut self, pool: usize, now: f64) -> Option<Place> {
        let reserved = self.pools.iter().filter_map(|pool| self.deployment.reserved(pool.function));
        let reserved = f64::from(reserved.sum::<u32>());
        let busy = self.pools.iter().filter(|pool| pool.is_unreserved()).map(|pool| pool.busy).sum();
        let free = self.deployment.account_concurrency - reserved;
        let pool = self.pools.get_mut(pool)?;
        let is_account_free = !pool.is_unreserved() || (float(busy) < free && self.invocations.take(now));
        let place = pool.take(now, is_account_free);
        let alive = float(pool.alive);
        let name = pool.function.name;
        let Some(taken) = place else {
            self.outcome.failures.lambda += 1.0;
            return None;
        };
        let work = self.outcome.function(name);
        work.invocations += 1.0;
        work.cold_starts += f64::from(u8::from(taken.is_cold));
        work.instances = work.instances.max(alive);
        let lambda = || self.pools.iter().filter(|pool| !pool.is_managed());
        let (busy, alive) =
            (lambda().map(|pool| pool.busy).sum(), self.pools.iter().map(|pool| pool.alive).sum());
        self.outcome.most_concurrent = self.outcome.most_concurrent.max(float(busy));
        self.outcome.most_instances = self.outcome.most_instances.max(float(alive));
        place
    }

    /// Fetches the data of a request. Returns how long that takes, in seconds; `None` if the provider refuses.
    fn fetch(&mut self, pool: usize, place: Place, kind: &Kind, now: f64) -> Option<f64> {
        let pool = self.pools.get_mut(pool)?;
        let (source, name) = (pool.function.source, pool.function.name);
        let milliseconds = match source {
            Source::Table => {
                self.outcome.read_units += kind.read_units;
                self.wait(self.waits.table)
            }
            Source::Provider => {
                self.provider.fetch(now);
                self.outcome.function(name).fetches += 1.0;
                self.wait(self.waits.provider)
            }
            Source::Players => {
                let instance = pool.instances.get_mut(place.instance)?;
                if now < instance.blocked_until {
                    return None;
                }
                self.outcome.names += 1.0;
                self.outcome.function(name).fetches += 1.0;
                match self.provider.fetch_with_key(now) {
                    Ok(next) if self.deployment.paced => instance.blocked_until = next,
                    Ok(_) => {}
                    Err(until) => {
                        instance.blocked_until = until;
                        return None;
                    }
                }
                self.wait(self.waits.names) + self.wait(self.waits.provider)
            }
        };
        Some(milliseconds / 1_000.0)
    }

    /// What the instance keeps for this question. If that has expired but the provider has nothing newer, it counts as fetched now.
    fn kept(&mut self, pool: usize, place: Place, question: usize, now: f64) -> Option<Kept> {
        let pool = self.pools.get_mut(pool)?;
        let kept = pool.instances.get_mut(place.instance)?.memory.get(question)?;
        if now >= kept.fresh_until && now < kept.latest_until {
            kept.fresh_until = now + pool.function.ttl_s;
        }
        Some(*kept)
    }

    /// Keeps what was fetched in the instance.
    fn keep(&mut self, pool: usize, place: Place, kind: &Kind, question: usize, now: f64, fetch_s: f64) {
        let deployment = self.deployment;
        let Some(pool) = self.pools.get_mut(pool) else { return };
        let function = pool.function;
        let news = function.news_s.filter(|_| deployment.until_news && deployment.stage_cache);
        let kept = Kept {
            fresh_until: now + function.ttl_s,
            latest_until: news.map_or(0.0, |every| ((now / every).floor() + 1.0) * every),
            ready_at: now + fetch_s,
            bytes: kind.bytes[0],
        };
        if let Some(instance) = pool.instances.get_mut(place.instance) {
            instance.memory.put(question, kept, function.kept_bytes);
        }
    }

    fn may_be_stale(&self, pool: usize, kept: Kept, now: f64) -> bool {
        let ttl_s = self.pools.get(pool).map_or(0.0, |pool| pool.function.ttl_s);
        now <= kept.fresh_until + (ttl_s * STALE_TTLS).min(3_600.0)
    }

    /// Counts the work of an invocation and returns when it ends.
    fn run(
        &mut self,
        pool: usize,
        place: Place,
        now: f64,
        waiting_s: f64,
        processor_ms: f64,
        bytes: f64,
    ) -> f64 {
        let Some(pool) = self.pools.get(pool) else { return now };
        let function = pool.function;
        let share = if pool.is_managed() { 1.0 } else { (function.memory_mb / WHOLE_PROCESSOR_MB).min(1.0) };
        let seconds =
            waiting_s + (processor_ms / share + RUNTIME_MS + bytes / RESPONSE_BYTES_PER_MS) / 1_000.0;
        let started = if place.is_cold { self.waits.start / 1_000.0 } else { 0.0 };
        let billed_s = ((seconds - started) * 1_000.0).ceil() / 1_000.0;
        let work = self.outcome.function(function.name);
        work.gigabyte_seconds += billed_s * function.memory_mb / 1_024.0;
        work.processor_s += (processor_ms + RUNTIME_MS * share) / 1_000.0;
        now + seconds
    }

    fn later(&mut self, at: f64, request: Request, instance: usize, result: Finished) {
        self.events_so_far += 1;
        self.events.push(Event { at, number: self.events_so_far, request, instance, result });
    }

    fn finish(&mut self, event: &Event) {
        let Event { at: now, request, instance, result, .. } = *event;
        let pool = if result == Finished::Decision { FUNCTIONS.len() - 1 } else { request.pool };
        let Some(pool) = self.pools.get_mut(pool) else { return };
        pool.give_back(instance, now);
        let ttl_s = pool.function.ttl_s;
        match result {
            Finished::Decision => {
                if let Some(key) = self.keys.get_mut(request.arrival.key) {
                    key.authorized_until = now + ttl_s;
                }
                self.admit(request, now);
            }
            Finished::Response => {
                let bytes = self.kinds.get(request.arrival.kind).map_or(f64::INFINITY, |kind| kind.bytes[0]);
                self.stage_cache.store(request.arrival, request.pool, bytes, now + ttl_s);
                let milliseconds = (now - request.arrival.at) * 1_000.0 + GATEWAY_MS + INVOKE_MS;
                self.respond(request.arrival.kind, milliseconds);
            }
            Finished::Failure => self.outcome.failures.provider += 1.0,
        }
    }

    fn respond(&mut self, kind: usize, milliseconds: f64) {
        self.outcome.latency.add(milliseconds);
        self.outcome.sent_bytes += self.kinds.get(kind).map_or(0.0, |kind| kind.bytes[1]);
    }

    /// A wait of this mean.
    fn wait(&mut self, mean_ms: f64) -> f64 {
        let varies_ms = mean_ms * self.waits.varies;
        mean_ms - varies_ms + self.chance.exponential(varies_ms)
    }

    fn into_outcome(self, plan: &Plan<'_>) -> Outcome {
        let mut outcome = self.outcome;
        outcome.seconds = plan.measured_s;
        outcome.instances /= self.samples.max(1.0);
        outcome.fetched_at = self.provider.fetched_at;
        outcome.fetched_at.sort_by(f64::total_cmp);
        outcome
    }
}
