//! The instances of one function. On Lambda, a request goes to the instance that was idle for the shortest time, or else to a
//! new one. AWS does not document which one it takes; of the orders that let unneeded instances end, this one causes the most
//! fetches, because instances take turns. On Managed Instances, there is a fixed number of processes, and a request goes to the
//! one with the fewest.

use std::collections::VecDeque;

use crate::assumptions::{IDLE_S, INVOCATIONS_PER_CONCURRENCY, STARTS_AT_ONCE, STARTS_PER_S};
use crate::deployment::{Deployment, Function};
use crate::memory::Memory;
use crate::throttle::Bucket;

/// An instance, or a process of Managed Instances.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    pub(crate) memory: Memory,
    /// No fetch with the provider's key before this time.
    pub(crate) blocked_until: f64,
    requests: usize,
    last_used_at: f64,
}

/// A place in an instance for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The index of the instance.
    pub(crate) instance: usize,
    /// Whether the instance was started for this request.
    pub(crate) is_cold: bool,
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) function: &'static Function,
    /// The throttle of its route.
    pub(crate) route: Bucket,
    /// The instances, ended ones included, whose places are used again.
    pub(crate) instances: Vec<Instance>,
    /// The idle ones, the one that was idle for the longest time first.
    idle: VecDeque<usize>,
    ended: Vec<usize>,
    pub(crate) alive: usize,
    pub(crate) busy: usize,
    reserved: Option<Reservation>,
    starts: Bucket,
    /// Requests at a time of a process of Managed Instances.
    managed: Option<usize>,
}

/// A reservation of concurrency.
#[derive(Debug)]
struct Reservation {
    instances: usize,
    invocations: Bucket,
}

impl Pool {
    pub(crate) fn new(function: &'static Function, deployment: &Deployment) -> Self {
        let [route_rate, route_burst] = deployment.route;
        let managed = deployment.managed.get(function.name);
        let instances = managed.map_or(0, |[processes, _]| count(*processes));
        let reserved = deployment.reserved(function).map(|concurrency| {
            let rate = f64::from(concurrency) * INVOCATIONS_PER_CONCURRENCY;
            let instances = count(concurrency);
            Reservation { instances, invocations: Bucket::new(rate, rate) }
        });
        Self {
            function,
            route: Bucket::new(route_rate, route_burst),
            instances: (0..instances).map(|_| Instance::default()).collect(),
            idle: VecDeque::new(),
            ended: Vec::new(),
            alive: instances,
            busy: 0,
            reserved,
            starts: Bucket::new(STARTS_PER_S, STARTS_AT_ONCE),
            managed: managed.map(|[_, requests]| count(*requests)),
        }
    }

    /// Whether it uses the account's concurrency that is not reserved.
    pub(crate) const fn is_unreserved(&self) -> bool {
        self.reserved.is_none() && self.managed.is_none()
    }

    pub(crate) const fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// A place for a request, unless Lambda throttles it. `is_account_free` says whether the account has concurrency left.
    pub(crate) fn take(&mut self, now: f64, is_account_free: bool) -> Option<Place> {
        let place = match (self.managed, &mut self.reserved) {
            (Some(requests), _) => self.least_busy(requests)?,
            (None, Some(reservation)) => {
                if self.busy >= reservation.instances || !reservation.invocations.take(now) {
                    return None;
                }
                self.idle_or_new(now)?
            }
            (None, None) if is_account_free => self.idle_or_new(now)?,
            (None, None) => return None,
        };
        self.busy += 1;
        self.instances.get_mut(place.instance)?.requests += 1;
        Some(place)
    }

    fn least_busy(&self, requests: usize) -> Option<Place> {
        let free = self.instances.iter().enumerate().filter(|(_, process)| process.requests < requests);
        let (instance, _) = free.min_by_key(|(_, process)| process.requests)?;
        Some(Place { instance, is_cold: false })
    }

    fn idle_or_new(&mut self, now: f64) -> Option<Place> {
        self.end_idle(now);
        if let Some(instance) = self.idle.pop_back() {
            return Some(Place { instance, is_cold: false });
        }
        if !self.starts.take(now) {
            return None;
        }
        self.alive += 1;
        if let Some(instance) = self.ended.pop() {
            return Some(Place { instance, is_cold: true });
        }
        self.instances.push(Instance::default());
        Some(Place { instance: self.instances.len() - 1, is_cold: true })
    }

    /// Ends the request in this instance.
    pub(crate) fn give_back(&mut self, index: usize, now: f64) {
        self.busy = self.busy.saturating_sub(1);
        let Some(instance) = self.instances.get_mut(index) else { return };
        instance.requests = instance.requests.saturating_sub(1);
        instance.last_used_at = now;
        if self.managed.is_none() {
            self.idle.push_back(index);
        }
    }

    /// Ends the instances that have been idle for too long.
    pub(crate) fn end_idle(&mut self, now: f64) {
        while let Some(index) = self.idle.front().copied() {
            let Some(instance) = self.instances.get_mut(index) else { return };
            if now - instance.last_used_at < IDLE_S {
                return;
            }
            *instance = Instance::default();
            self.idle.pop_front();
            self.ended.push(index);
            self.alive = self.alive.saturating_sub(1);
        }
    }
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployment::FUNCTIONS;

    fn pool(deployment: &Deployment) -> Pool {
        Pool::new(&FUNCTIONS[0], deployment)
    }

    fn places(pool: &mut Pool, now: f64, count: usize) -> Vec<Option<usize>> {
        (0..count).map(|_| pool.take(now, true).map(|place| place.instance)).collect()
    }

    #[test]
    fn the_latest_idle_instance_is_used_first_and_the_others_end() {
        let mut pool = pool(&Deployment::default());
        assert_eq!(places(&mut pool, 0.0, 2), [Some(0), Some(1)]);
        pool.give_back(1, 1.0);
        pool.give_back(0, 2.0);
        assert_eq!(pool.take(3.0, true), Some(Place { instance: 0, is_cold: false }));
        pool.end_idle(1.0 + IDLE_S);
        assert_eq!((pool.alive, pool.busy), (1, 1));
        assert_eq!(pool.take(1.0 + IDLE_S, true), Some(Place { instance: 1, is_cold: true }));
        assert_eq!(pool.take(0.0, false), None);
    }

    #[test]
    fn a_reservation_bounds_instances_and_invocations() {
        let mut pool = pool(&Deployment { provider_reserved: Some(2), ..Deployment::default() });
        assert_eq!(places(&mut pool, 0.0, 3), [Some(0), Some(1), None]);
        pool.give_back(0, 0.0);
        let answered = (0..30).filter(|_| {
            pool.take(0.0, false).is_some_and(|place| {
                pool.give_back(place.instance, 0.0);
                true
            })
        });
        assert_eq!(answered.count(), 18);
    }

    #[test]
    fn a_process_of_managed_instances_takes_several_requests() {
        let managed = [("bazaar", [2, 2])].into();
        let mut pool = pool(&Deployment { managed, ..Deployment::default() });
        assert_eq!(places(&mut pool, 0.0, 5), [Some(0), Some(1), Some(0), Some(1), None]);
        pool.give_back(1, 0.0);
        assert_eq!(pool.take(0.0, false), Some(Place { instance: 1, is_cold: false }));
    }
}
