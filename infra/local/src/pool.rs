//! The instances of one function. An event goes to an idle instance, or else to a new one; beyond the concurrency, callers
//! wait. An instance that ended or hangs is replaced.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use crate::instance::{Failure, Function, Instance};
use crate::logs::Logs;

/// How long a shutdown waits for running invocations to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The pools of all functions, by logical id.
pub(crate) type Pools = BTreeMap<String, Arc<Pool>>;

/// The pool of the function with this logical id or binary.
pub(crate) fn find<'pools>(pools: &'pools Pools, name: &str) -> Option<&'pools Arc<Pool>> {
    pools.get(name).or_else(|| pools.values().find(|pool| pool.function.binary == name))
}

/// The state that the next invocation starts from.
struct Ready {
    idle: Vec<Instance>,
    /// Ends the current instances. Each invocation holds a receiver while its instance runs.
    killed: watch::Sender<bool>,
}

pub(crate) struct Pool {
    function: Function,
    concurrency: u32,
    slots: Arc<Semaphore>,
    ready: Mutex<Ready>,
    logs: Logs,
    stopped: watch::Sender<bool>,
}

impl Pool {
    pub(crate) fn new(function: Function, concurrency: u32, logs: Logs) -> Self {
        Self {
            function,
            concurrency,
            slots: Arc::new(Semaphore::new(usize::try_from(concurrency).unwrap_or(usize::MAX))),
            ready: Mutex::new(Ready { idle: Vec::new(), killed: watch::Sender::new(false) }),
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
            let result = pool.run(&request_id, event).await;
            drop(slot);
            if let Err(failure) = &result
                && logged
            {
                pool.log(&request_id, failure);
            }
            result
        });
        invocation.await.unwrap_or(Err(Failure::Stopped))
    }

    async fn run(&self, request_id: &str, event: Bytes) -> Result<Bytes, Failure> {
        let mut stopped = self.stopped.subscribe();
        loop {
            let (idle, mut killed) = self.take_idle();
            let fresh = idle.is_none();
            let mut instance = match idle {
                Some(instance) => instance,
                None => Instance::start(&self.function, &self.logs).await?,
            };
            let result = tokio::select! {
                result = instance.invoke(request_id, event.clone(), self.function.timeout) => result,
                _ = stopped.wait_for(|stopped| *stopped) => Err(Failure::Stopped),
                _ = killed.wait_for(|killed| *killed) => Err(Failure::Killed),
            };
            let failure = match result {
                Ok(response) => {
                    self.give_back(instance, &killed).await;
                    return Ok(response);
                }
                Err(failure) => failure,
            };
            if failure.keeps_instance_usable() {
                self.give_back(instance, &killed).await;
            } else {
                instance.stop().await;
            }
            // No instance has seen the event, so another one can handle it.
            if matches!(failure, Failure::EndedIdle(_)) && !fresh {
                self.log(request_id, &failure);
                continue;
            }
            return Err(failure);
        }
    }

    /// An idle instance, if there is one, and the signal that ends it or the one that is started instead.
    fn take_idle(&self) -> (Option<Instance>, watch::Receiver<bool>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let killed = ready.killed.subscribe();
        while let Some(instance) = ready.idle.pop() {
            if instance.is_running() {
                return (Some(instance), killed);
            }
            self.logs
                .push(&format!("local: {}: an idle process ended and is replaced", self.function.binary));
        }
        (None, killed)
    }

    async fn give_back(&self, instance: Instance, killed: &watch::Receiver<bool>) {
        let late = {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            if *killed.borrow() {
                Some(instance)
            } else {
                ready.idle.push(instance);
                None
            }
        };
        if let Some(instance) = late {
            instance.stop().await;
        }
    }

    /// Kills all processes, busy or idle, and waits until they have ended. Later invocations start new ones.
    pub(crate) async fn kill(&self) {
        let (idle, killed) = {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            let killed = std::mem::replace(&mut ready.killed, watch::Sender::new(false));
            killed.send_replace(true);
            (std::mem::take(&mut ready.idle), killed)
        };
        for instance in idle {
            instance.stop().await;
        }
        killed.closed().await;
    }

    fn log(&self, request_id: &str, failure: &Failure) {
        if !matches!(failure, Failure::Stopped) {
            self.logs.push(&format!("local: {}: request {request_id}: {failure}", self.function.binary));
        }
    }

    /// Accepts no more invocations and kills the processes, without waiting for them.
    pub(crate) fn close(&self) {
        self.slots.close();
        self.stopped.send_replace(true);
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).idle.clear();
    }

    /// Kills all processes and waits until they have ended.
    pub(crate) async fn stop(&self) {
        self.stopped.send_replace(true);
        let all_slots =
            tokio::time::timeout(SHUTDOWN_TIMEOUT, self.slots.acquire_many(self.concurrency)).await;
        let idle = std::mem::take(&mut self.ready.lock().unwrap_or_else(PoisonError::into_inner).idle);
        for instance in idle {
            instance.stop().await;
        }
        drop(all_slots);
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;

    /// `examples/parrot.rs`, which `cargo test` builds.
    fn parrot() -> PathBuf {
        let test = std::env::current_exe().unwrap();
        test.parent().unwrap().with_file_name("examples").join("parrot")
    }

    fn pool(program: PathBuf, timeout: Duration, concurrency: u32) -> Arc<Pool> {
        let function = Function {
            name: "ParrotFunction".to_owned(),
            binary: "parrot".to_owned(),
            program,
            environment: BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]),
            memory_mb: 128,
            timeout,
        };
        Arc::new(Pool::new(function, concurrency, Logs::default()))
    }

    fn say(word: &str) -> Bytes {
        Bytes::from(format!("{{\"say\":{word:?}}}"))
    }

    async fn process_of(pool: &Arc<Pool>) -> Bytes {
        pool.invoke(say("process")).await.unwrap()
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
}
