//! The instances of one function. An event goes to an idle instance, or else to a new one; beyond the
//! concurrency, callers wait. An instance that ended or hangs is replaced.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use crate::instance::{Failure, Instance};
use crate::logs::Logs;
use crate::template::Function;

/// The pools of all functions, by logical id.
pub(crate) type Pools = BTreeMap<String, Arc<Pool>>;

/// The pool of the function with this logical id, name or binary.
pub(crate) fn find<'pools>(pools: &'pools Pools, name: &str) -> Option<&'pools Arc<Pool>> {
    pools.get(name).or_else(|| {
        let mut pools = pools.values();
        pools.find(|pool| pool.function.binary == name || pool.function.name.as_deref() == Some(name))
    })
}

/// The state that the next invocation starts from.
#[derive(Default)]
struct Ready {
    idle: Vec<Instance>,
    /// Ends the current instances. Each invocation holds a receiver while its instance runs.
    killed: watch::Sender<bool>,
}

pub(crate) struct Pool {
    function: Function,
    program: PathBuf,
    /// Closed when the cloud shuts down.
    slots: Arc<Semaphore>,
    ready: Mutex<Ready>,
    logs: Logs,
}

impl Pool {
    pub(crate) fn new(function: Function, program: PathBuf, concurrency: usize, logs: Logs) -> Self {
        Self {
            function,
            program,
            slots: Arc::new(Semaphore::new(concurrency)),
            ready: Mutex::default(),
            logs,
        }
    }

    pub(crate) fn function(&self) -> &Function {
        &self.function
    }

    pub(crate) fn log(&self, text: &str) {
        self.logs.push(&format!("local: {}: {text}", self.function.binary));
    }

    /// Invokes the function and returns its response to the event. Dropping the future leaves the queue; an
    /// invocation that has started runs to its end, as on Lambda.
    ///
    /// # Errors
    /// When the function does not respond; the reason is logged.
    pub(crate) async fn invoke(self: &Arc<Self>, event: Bytes) -> Result<Bytes, Failure> {
        self.invoke_as(Uuid::new_v4(), event).await
    }

    /// Like [`Self::invoke`], with an id that the response carries, so that a client finds the function's log
    /// lines.
    ///
    /// # Errors
    /// When the function does not respond.
    pub(crate) async fn invoke_as(
        self: &Arc<Self>,
        request_id: Uuid,
        event: Bytes,
    ) -> Result<Bytes, Failure> {
        self.spawn(request_id, event, true).await
    }

    /// Like [`Self::invoke`], but without logging, for callers that redact failures or expect them.
    ///
    /// # Errors
    /// When the function does not respond.
    pub(crate) async fn invoke_unlogged(self: &Arc<Self>, event: Bytes) -> Result<Bytes, Failure> {
        self.spawn(Uuid::new_v4(), event, false).await
    }

    async fn spawn(self: &Arc<Self>, request_id: Uuid, event: Bytes, logged: bool) -> Result<Bytes, Failure> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| Failure::Stopped)?;
        let pool = Arc::clone(self);
        let invocation = tokio::spawn(async move {
            let result = pool.run(&request_id.to_string(), event).await;
            drop(slot);
            if let Err(failure) = &result
                && logged
                && !matches!(failure, Failure::Stopped)
            {
                pool.log(&format!("request {request_id}: {failure}"));
            }
            result
        });
        invocation.await.unwrap_or(Err(Failure::Stopped))
    }

    async fn run(&self, request_id: &str, event: Bytes) -> Result<Bytes, Failure> {
        loop {
            let (idle, mut killed) = self.take_idle();
            if self.slots.is_closed() {
                return Err(Failure::Stopped);
            }
            let fresh = idle.is_none();
            let mut instance = match idle {
                Some(instance) => instance,
                None => Instance::start(&self.function, &self.program, &self.logs).await?,
            };
            let result = tokio::select! {
                result = instance.invoke(request_id, event.clone(), self.function.timeout) => result,
                _ = killed.wait_for(|killed| *killed) => {
                    Err(if self.slots.is_closed() { Failure::Stopped } else { Failure::Killed })
                }
            };
            if result.as_ref().err().is_none_or(Failure::keeps_instance_usable) {
                self.give_back(instance, &killed).await;
            } else {
                instance.stop().await;
            }
            match result {
                // No instance has seen the event, so another instance can handle it.
                Err(failure @ Failure::EndedIdle(_)) if !fresh => self.log(&failure.to_string()),
                result => return result,
            }
        }
    }

    /// Takes an idle instance, if there is one. Also returns the signal that ends the instance, whether idle
    /// or new.
    fn take_idle(&self) -> (Option<Instance>, watch::Receiver<bool>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        (ready.idle.pop(), ready.killed.subscribe())
    }

    async fn give_back(&self, instance: Instance, killed: &watch::Receiver<bool>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if !*killed.borrow() {
            ready.idle.push(instance);
            return;
        }
        drop(ready);
        instance.stop().await;
    }

    /// Signals the busy instances to end, and takes the idle ones. The signal has no more receivers when all
    /// busy ones have ended.
    fn end_all(&self) -> (Vec<Instance>, watch::Sender<bool>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let Ready { idle, killed } = std::mem::take(&mut *ready);
        killed.send_replace(true);
        (idle, killed)
    }

    /// Kills all processes, busy or idle, and waits until they have ended. Later invocations start new ones.
    pub(crate) async fn kill(&self) {
        let (idle, killed) = self.end_all();
        for instance in idle {
            instance.stop().await;
        }
        killed.closed().await;
    }

    /// Accepts no more invocations and kills the processes, without waiting for them.
    pub(crate) fn close(&self) {
        self.slots.close();
        drop(self.end_all());
    }

    /// Accepts no more invocations, kills the processes, and waits until they have ended.
    pub(crate) async fn stop(&self) {
        self.slots.close();
        self.kill().await;
    }
}
