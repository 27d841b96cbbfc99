//! The instances of one function. An event goes to an instance with room for another request, or else to a new one; beyond the
//! concurrency, callers wait. An instance that ended or hangs is replaced.
//!
//! Of several instances with room, the event goes to the one that responded last. AWS does not document which one it takes; this
//! order lets the instances that a lower load does not need become idle. `infra/scale` assumes the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};
use uuid::Uuid;

use crate::instance::{Failure, Function, Instance};
use crate::logs::Logs;
use crate::slot::Slot;

/// How long a shutdown waits for running invocations to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The pools of all functions, by logical id.
pub(crate) type Pools = BTreeMap<String, Arc<Pool>>;

/// The pool of the function with this logical id or binary.
pub(crate) fn find<'pools>(pools: &'pools Pools, name: &str) -> Option<&'pools Arc<Pool>> {
    pools.get(name).or_else(|| pools.values().find(|pool| pool.function.binary == name))
}

/// An instance, or one that is about to start.
struct Place {
    instance: OnceCell<Instance>,
    /// One clone for each request that the instance handles.
    requests: Arc<()>,
}

impl Place {
    /// How many requests the instance handles.
    fn requests(&self) -> usize {
        Arc::strong_count(&self.requests) - 1
    }
}

/// The state that the next invocation starts from.
struct Ready {
    /// All instances, the one that responded last at the end. From there, the first one with a free slot handles the next event.
    places: Vec<Arc<Place>>,
    /// Ends the current instances. Each invocation holds a receiver while its instance runs.
    killed: watch::Sender<bool>,
}

/// Where an invocation runs.
struct Assignment {
    place: Arc<Place>,
    of_instance: Arc<()>,
    /// Whether the invocation has to start the instance.
    is_new: bool,
    killed: watch::Receiver<bool>,
}

pub(crate) struct Pool {
    function: Function,
    /// How many requests all instances together handle at a time, and each of them.
    requests: u32,
    requests_per_instance: u8,
    slots: Arc<Semaphore>,
    ready: Mutex<Ready>,
    logs: Logs,
    stopped: watch::Sender<bool>,
}

impl Pool {
    /// A pool of up to `instances`, each of which handles up to `requests_per_instance` requests at a time.
    pub(crate) fn new(function: Function, instances: u32, requests_per_instance: u8, logs: Logs) -> Self {
        let requests_per_instance = requests_per_instance.max(1);
        let requests = instances.saturating_mul(requests_per_instance.into());
        Self {
            function,
            requests,
            requests_per_instance,
            slots: Arc::new(Semaphore::new(usize::try_from(requests).unwrap_or(usize::MAX))),
            ready: Mutex::new(Ready { places: Vec::new(), killed: watch::Sender::new(false) }),
            logs,
            stopped: watch::Sender::new(false),
        }
    }

    pub(crate) fn function(&self) -> &Function {
        &self.function
    }

    /// The function's response to the event. Dropping the future leaves the queue; an invocation that has started runs to
    /// its end, as on Lambda.
    ///
    /// # Errors
    /// When the function does not respond; the reason is logged.
    pub(crate) async fn invoke(self: &Arc<Self>, event: Bytes) -> Result<Bytes, Failure> {
        self.spawn(event, true).await
    }

    /// The same without logging, for callers that redact failures or expect them.
    ///
    /// # Errors
    /// When the function does not respond.
    pub(crate) async fn invoke_unlogged(self: &Arc<Self>, event: Bytes) -> Result<Bytes, Failure> {
        self.spawn(event, false).await
    }

    async fn spawn(self: &Arc<Self>, event: Bytes, logged: bool) -> Result<Bytes, Failure> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| Failure::Stopped)?;
        let pool = Arc::clone(self);
        let invocation = tokio::spawn(async move {
            let request_id = Uuid::new_v4().to_string();
            let result = pool.run(&request_id, event, Arc::new(slot)).await;
            if let Err(failure) = &result
                && logged
            {
                pool.log(&request_id, failure);
            }
            result
        });
        invocation.await.unwrap_or(Err(Failure::Stopped))
    }

    async fn run(
        &self,
        request_id: &str,
        event: Bytes,
        of_function: Arc<OwnedSemaphorePermit>,
    ) -> Result<Bytes, Failure> {
        let mut stopped = self.stopped.subscribe();
        loop {
            let Assignment { place, of_instance, is_new, mut killed } = self.assign();
            let slot = Slot { _of_function: Arc::clone(&of_function), _of_instance: of_instance };
            let result = tokio::select! {
                result = self.invoke_in(&place, request_id, event.clone(), slot) => result,
                _ = stopped.wait_for(|stopped| *stopped) => Err(Failure::Stopped),
                _ = killed.wait_for(|killed| *killed) => Err(Failure::Killed),
            };
            let failure = match result {
                Ok(response) => {
                    self.move_to_end(&place);
                    return Ok(response);
                }
                Err(failure) => failure,
            };
            if !failure.keeps_instance_usable(self.requests_per_instance) {
                self.ready().places.retain(|other| !Arc::ptr_eq(other, &place));
                if let Some(instance) = place.instance.get() {
                    instance.stop().await;
                }
            }
            // The instance has not seen the event, so another one can handle it.
            if matches!(failure, Failure::EndedIdle(_)) && !is_new {
                self.log(request_id, &failure);
                continue;
            }
            return Err(failure);
        }
    }

    async fn invoke_in(
        &self,
        place: &Place,
        request_id: &str,
        event: Bytes,
        slot: Slot,
    ) -> Result<Bytes, Failure> {
        let start = || Instance::start(&self.function, self.requests_per_instance, &self.logs);
        let instance = place.instance.get_or_try_init(start).await?;
        instance.invoke(request_id, event, self.function.timeout, slot).await
    }

    /// An instance with a free slot, or a new one, and the signal that ends it.
    fn assign(&self) -> Assignment {
        let mut ready = self.ready();
        let killed = ready.killed.subscribe();
        let has_ended = |place: &Place| place.instance.get().is_some_and(|instance| !instance.is_running());
        for ended in ready.places.extract_if(.., |place| has_ended(place)) {
            if ended.requests() == 0 {
                self.logs
                    .push(&format!("local: {}: an idle process ended and is replaced", self.function.binary));
            }
        }
        let most = usize::from(self.requests_per_instance);
        if let Some(place) = ready.places.iter().rev().find(|place| place.requests() < most) {
            let (place, of_instance) = (Arc::clone(place), Arc::clone(&place.requests));
            return Assignment { place, of_instance, is_new: false, killed };
        }
        let place = Arc::new(Place { instance: OnceCell::new(), requests: Arc::default() });
        ready.places.push(Arc::clone(&place));
        Assignment { of_instance: Arc::clone(&place.requests), place, is_new: true, killed }
    }

    /// Makes this instance the one that responded last, unless it is no longer there.
    fn move_to_end(&self, place: &Arc<Place>) {
        let mut ready = self.ready();
        if let Some(index) = ready.places.iter().position(|other| Arc::ptr_eq(other, place)) {
            let place = ready.places.remove(index);
            ready.places.push(place);
        }
    }

    /// Kills all processes, busy or idle, and waits until they have ended. Later invocations start new ones.
    pub(crate) async fn kill(&self) {
        let (places, killed) = {
            let mut ready = self.ready();
            let killed = std::mem::replace(&mut ready.killed, watch::Sender::new(false));
            killed.send_replace(true);
            (std::mem::take(&mut ready.places), killed)
        };
        stop_all(places).await;
        killed.closed().await;
    }

    fn log(&self, request_id: &str, failure: &Failure) {
        if !matches!(failure, Failure::Stopped) {
            self.logs.push(&format!("local: {}: request {request_id}: {failure}", self.function.binary));
        }
    }

    fn ready(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts no more invocations and kills the processes, without waiting for them.
    pub(crate) fn close(&self) {
        self.slots.close();
        self.stopped.send_replace(true);
        self.ready().places.clear();
    }

    /// Kills all processes and waits until they have ended.
    pub(crate) async fn stop(&self) {
        self.stopped.send_replace(true);
        let all_slots = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.slots.acquire_many(self.requests)).await;
        let places = std::mem::take(&mut self.ready().places);
        stop_all(places).await;
        drop(all_slots);
        self.close();
    }
}

async fn stop_all(places: Vec<Arc<Place>>) {
    for place in places {
        if let Some(instance) = place.instance.get() {
            instance.stop().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::Instant;

    use futures_util::future::join_all;

    use super::*;

    /// `examples/parrot.rs`, which `cargo test` builds.
    fn parrot() -> PathBuf {
        let test = std::env::current_exe().unwrap();
        test.parent().unwrap().with_file_name("examples").join("parrot")
    }

    fn pool(program: PathBuf, timeout: Duration, concurrency: u32) -> Arc<Pool> {
        pool_of(program, timeout, concurrency, 1)
    }

    fn pool_of(program: PathBuf, timeout: Duration, instances: u32, requests: u8) -> Arc<Pool> {
        let function = Function {
            name: "ParrotFunction".to_owned(),
            binary: "parrot".to_owned(),
            program,
            environment: BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]),
            memory_mb: 128,
            timeout,
        };
        Arc::new(Pool::new(function, instances, requests, Logs::default()))
    }

    /// What the environment variable `name` is in the function.
    async fn variable(pool: &Arc<Pool>, name: &str) -> Bytes {
        pool.invoke(Bytes::from(format!(r#"{{"say":"variable","name":{name:?}}}"#))).await.unwrap()
    }

    fn say(word: &str) -> Bytes {
        Bytes::from(format!("{{\"say\":{word:?}}}"))
    }

    async fn process_of(pool: &Arc<Pool>) -> Bytes {
        pool.invoke(say("process")).await.unwrap()
    }

    #[tokio::test]
    async fn an_idle_instance_is_used_again() {
        let pool = pool(parrot(), Duration::from_secs(10), 4);
        let first = process_of(&pool).await;
        assert_eq!(first, process_of(&pool).await);
        assert_eq!(pool.invoke(say("greeting")).await.unwrap(), "\"hello\"");
        pool.stop().await;
    }

    #[tokio::test]
    async fn a_second_instance_starts_when_the_first_is_busy_and_a_third_caller_waits() {
        let pool = pool(parrot(), Duration::from_secs(10), 2);
        let slowly = || pool.invoke(say("slowly"));
        let (first, second, third) = tokio::join!(slowly(), slowly(), slowly());
        let mut processes = vec![first.unwrap(), second.unwrap(), third.unwrap()];
        processes.sort();
        processes.dedup();
        assert_eq!(processes.len(), 2, "{processes:?}");
        pool.stop().await;
    }

    #[tokio::test]
    async fn the_instance_that_responded_last_is_used_first() {
        let pool = pool(parrot(), Duration::from_secs(10), 2);
        let (sender, mut responded) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..2 {
            let (pool, sender) = (Arc::clone(&pool), sender.clone());
            tokio::spawn(async move { sender.send(pool.invoke(say("slowly")).await.unwrap()).unwrap() });
        }
        let (first, second) = (responded.recv().await.unwrap(), responded.recv().await.unwrap());
        assert_ne!(first, second);
        assert_eq!(process_of(&pool).await, second);
        pool.stop().await;
    }

    #[tokio::test]
    async fn an_instance_takes_several_requests_at_a_time_and_a_second_one_starts_when_it_is_full() {
        let pool = pool_of(parrot(), Duration::from_secs(10), 2, 3);
        let slowly = async |count| {
            let results = join_all((0..count).map(|_| pool.invoke(say("slowly")))).await;
            let mut processes: Vec<_> = results.into_iter().map(Result::unwrap).collect();
            processes.sort();
            processes.dedup();
            processes.len()
        };
        assert_eq!(slowly(3).await, 1);
        assert_eq!(slowly(6).await, 2);
        assert_eq!(slowly(7).await, 2, "the seventh waits");
        assert_eq!(variable(&pool, "AWS_LAMBDA_MAX_CONCURRENCY").await, "\"3\"");
        let kind = "AWS_LAMBDA_INITIALIZATION_TYPE";
        assert_eq!(variable(&pool, kind).await, "\"lambda-managed-instances\"");
        pool.stop().await;
        let pool = self::pool(parrot(), Duration::from_secs(10), 1);
        assert_eq!(variable(&pool, "AWS_LAMBDA_MAX_CONCURRENCY").await, "\"\"");
        assert_eq!(variable(&pool, kind).await, "\"on-demand\"");
        pool.stop().await;
    }

    #[tokio::test]
    async fn a_timeout_ends_an_instance_with_one_request_at_a_time_only() {
        let timeout = Duration::from_secs(5);
        let pool = pool(parrot(), timeout, 1);
        let before = process_of(&pool).await;
        assert!(matches!(pool.invoke(say("hang")).await, Err(Failure::TimedOut(_))));
        assert_ne!(before, process_of(&pool).await);
        pool.stop().await;

        let pool = pool_of(parrot(), timeout, 1, 3);
        let before = process_of(&pool).await;
        let late = async {
            tokio::time::sleep(Duration::from_millis(4_700)).await;
            pool.invoke(say("slowly")).await
        };
        let (hanging, late) = tokio::join!(pool.invoke(say("hang")), late);
        assert!(matches!(hanging, Err(Failure::TimedOut(_))));
        assert_eq!(late.unwrap(), before, "another request goes on");
        // The function still works on the first event, so there is room for two others.
        let started = Instant::now();
        join_all((0..3).map(|_| pool.invoke(say("slowly")))).await;
        assert!(started.elapsed() >= Duration::from_secs(1), "the third waits");
        pool.stop().await;
    }

    #[tokio::test]
    async fn all_requests_of_a_process_fail_when_it_ends() {
        let pool = pool_of(parrot(), Duration::from_secs(10), 1, 3);
        let before = process_of(&pool).await;
        let crash = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            pool.invoke(say("crash")).await
        };
        let (first, second, crash) = tokio::join!(pool.invoke(say("hang")), pool.invoke(say("hang")), crash);
        for result in [first, second, crash] {
            assert!(matches!(result, Err(Failure::Ended(_))));
        }
        assert_ne!(before, process_of(&pool).await);
        pool.stop().await;
    }

    #[tokio::test]
    async fn an_instance_survives_a_failed_invocation() {
        let pool = pool(parrot(), Duration::from_secs(10), 1);
        let before = process_of(&pool).await;
        let failure = pool.invoke(say("fail")).await.unwrap_err();
        assert!(String::from_utf8_lossy(&failure.payload()).contains("asked to fail"), "{failure}");
        let failure = pool.invoke(say("too much")).await.unwrap_err();
        assert!(matches!(failure, Failure::TooLarge), "{failure}");
        assert_eq!(before, process_of(&pool).await);
        pool.stop().await;
    }

    #[tokio::test]
    async fn a_program_that_ends_at_once_fails() {
        let pool = pool(PathBuf::from("/bin/true"), Duration::from_secs(10), 1);
        let failure = pool.invoke(say("anything")).await.unwrap_err();
        assert!(matches!(failure, Failure::EndedInInit(_)), "{failure}");
        pool.stop().await;
    }

    #[tokio::test]
    async fn a_kill_ends_busy_and_idle_instances_and_the_next_caller_gets_a_new_one() {
        let pool = pool(parrot(), Duration::from_mins(1), 2);
        let idle = process_of(&pool).await;
        let hanging = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.invoke(say("hang")).await }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        let other = process_of(&pool).await;
        pool.kill().await;
        assert!(matches!(hanging.await.unwrap(), Err(Failure::Killed)));
        for process in [&idle, &other] {
            let process = std::str::from_utf8(process).unwrap();
            assert!(!std::path::Path::new("/proc").join(process).exists(), "{process} is still there");
        }
        let fresh = process_of(&pool).await;
        assert!(fresh != idle && fresh != other);
        pool.stop().await;
    }

    #[tokio::test]
    async fn an_idle_process_that_is_killed_is_no_zombie_before_the_next_invocation() {
        let pool = pool(parrot(), Duration::from_secs(10), 1);
        let idle = process_of(&pool).await;
        let process = std::str::from_utf8(&idle).unwrap().to_owned();
        let killed = tokio::process::Command::new("kill").args(["-9", &process]).status().await.unwrap();
        assert!(killed.success());
        let started = Instant::now();
        while std::path::Path::new("/proc").join(&process).exists() {
            assert!(started.elapsed() < Duration::from_mins(3), "{process} is still there");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_ne!(process_of(&pool).await, idle);
        pool.stop().await;
    }

    #[tokio::test]
    async fn a_stop_ends_running_invocations() {
        let pool = pool(parrot(), Duration::from_mins(1), 1);
        let hanging = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.invoke(say("hang")).await }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        pool.stop().await;
        assert!(matches!(hanging.await.unwrap(), Err(Failure::Stopped)));
        assert!(matches!(pool.invoke(say("process")).await, Err(Failure::Stopped)));
    }
}
