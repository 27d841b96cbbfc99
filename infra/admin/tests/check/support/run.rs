//! Runs of `cargo admin check` against a proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::process::Stdio;
use std::sync::Arc;

use futures_util::future::join_all;
use local::{Cloud, Options};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::mutation::Broken;
use super::proxy::{Behind, Proxy};

/// The longest reason that is readable.
const MAX_REASON: usize = 700;

/// A run, and what it must report.
pub(crate) struct Run {
    pub(crate) name: &'static str,
    /// The promises that the proxy breaks. They do not affect each other's checks.
    pub(crate) broken: Vec<Broken>,
    pub(crate) behind: Behind,
    pub(crate) tier: Tier,
    pub(crate) options: &'static [&'static str],
    /// Names and values of observations.
    pub(crate) observations: &'static [(&'static str, &'static str)],
    /// Whether checks may fail although no promise is broken.
    pub(crate) may_fail: bool,
}

/// The key that the program uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    Starter,
    Pro,
}

impl Run {
    /// A run that breaks these promises.
    pub(crate) fn new(name: &'static str, broken: Vec<Broken>) -> Self {
        let options = &["--rate", "1000"];
        Self {
            name,
            broken,
            behind: Behind::Nothing,
            tier: Tier::Pro,
            options,
            observations: &[],
            may_fail: false,
        }
    }

    pub(crate) fn behind(self, behind: Behind) -> Self {
        Self { behind, ..self }
    }

    pub(crate) fn tier(self, tier: Tier) -> Self {
        Self { tier, ..self }
    }

    pub(crate) fn options(self, options: &'static [&'static str]) -> Self {
        Self { options, ..self }
    }

    pub(crate) fn observations(self, observations: &'static [(&'static str, &'static str)]) -> Self {
        Self { observations, ..self }
    }

    pub(crate) fn may_fail(self) -> Self {
        Self { may_fail: true, ..self }
    }
}

/// A local cloud with or without a stage cache. The tier pro has no limits that a run reaches. The limits of starter are
/// four times those of the template, so that a run is four times as fast.
pub(crate) async fn start_cloud(gateway_cache: &str) -> Cloud {
    start_cloud_with(&[("GatewayCache", gateway_cache)]).await
}

/// The same with these values for parameters of the template.
pub(crate) async fn start_cloud_with(parameters: &[(&str, &str)]) -> Cloud {
    let limits = [
        ("StarterRateLimit", "8"),
        ("StarterBurstLimit", "240"),
        ("ProRateLimit", "2000"),
        ("ProBurstLimit", "9000"),
    ];
    let parameters = limits.iter().chain(parameters);
    let parameters = parameters.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let concurrency = NonZeroU16::MIN;
    Cloud::start(Options { throttling: true, concurrency, parameters, ..Options::for_tests() }).await.unwrap()
}

/// The report of a run.
pub(crate) struct Report(Value);

impl Report {
    /// The names of the checks that ran.
    pub(crate) fn checks(&self) -> BTreeSet<&str> {
        let ran = self.0["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] != "skipped");
        ran.map(|check| check["name"].as_str().unwrap()).collect()
    }

    /// The names of the checks that were skipped, and why.
    pub(crate) fn skipped(&self) -> BTreeMap<&str, &str> {
        let skipped =
            self.0["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "skipped");
        skipped.map(|check| (check["name"].as_str().unwrap(), check["reason"].as_str().unwrap())).collect()
    }

    /// The names of the checks that failed, and why.
    fn failures(&self) -> BTreeMap<&str, &Value> {
        let failed = self.0["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "failed");
        failed.map(|check| (check["name"].as_str().unwrap(), check)).collect()
    }

    fn observation(&self, name: &str) -> &Value {
        let observations = self.0["observations"].as_array().unwrap();
        observations.iter().find(|observation| observation["name"] == name).unwrap_or(&Value::Null)
    }
}

/// How often a run is repeated, at most.
const REPEATS: usize = 10;

/// Carries out the run. What the program reports must be what `run` expects. A run that was too slow to see it is repeated.
pub(crate) async fn carry_out(cloud: &Cloud, run: Run) -> Report {
    let Run { name, broken, behind, tier, options, observations, may_fail } = run;
    let broken = Arc::new(broken);
    let proxy = Proxy::start(cloud, Arc::clone(&broken), behind).await;
    let mut repeats = 0..REPEATS;
    let (report, code) = loop {
        let (report, code) = check(cloud, &proxy, tier, options).await;
        let skipped = report.skipped();
        let is_unknown = |(name, value): &(&str, &str)| {
            *value != "unknown" && report.observation(name)["value"] == "unknown"
        };
        let saw_everything =
            !broken.iter().flat_map(|broken| &broken.fails).any(|check| skipped.contains_key(check.as_str()))
                && !observations.iter().any(is_unknown);
        if saw_everything || repeats.next().is_none() {
            break (report, code);
        }
    };
    let failures = report.failures();
    let mut problems = Vec::new();
    for Broken { promise, fails, .. } in broken.iter() {
        let missed = fails.iter().filter(|check| !failures.contains_key(check.as_str()));
        problems.extend(missed.map(|check| format!("{promise}: {check} does not fail")));
    }
    if broken.is_empty() && !may_fail {
        problems.extend(failures.values().map(|check| format!("fails: {check}")));
    }
    for check in failures.values() {
        let is_explained = |name: &str| {
            let reason = check[name].as_str().unwrap_or_default();
            !reason.is_empty() && reason.len() <= MAX_REASON
        };
        if !is_explained("expected") || !is_explained("received") {
            problems.push(format!("has no readable reason: {check}"));
        }
    }
    for (name, value) in observations {
        let observation = report.observation(name);
        if observation["value"] != *value {
            problems.push(format!("{name} is not {value}: {observation}"));
        }
    }
    if code != Some(i32::from(!failures.is_empty())) {
        problems.push(format!("the exit code is {code:?}"));
    }
    if tier == Tier::Starter && report.0["throttled"] != 0 {
        problems.push(format!("throttled {} times", report.0["throttled"]));
    }
    assert!(problems.is_empty(), "{name}: {problems:#?}");
    report
}

/// Runs the program with all keys of the cloud. Its output must not contain one.
async fn check(cloud: &Cloud, proxy: &Proxy, tier: Tier, options: &[&str]) -> (Report, Option<i32>) {
    let keys = cloud.keys().unwrap();
    let key = if tier == Tier::Starter { &keys.starter } else { &keys.pro };
    let mut child = Command::new(env!("CARGO_BIN_EXE_admin"))
        .args(["check", "--url", &proxy.url, "--key", "-", "--json", "--requests", "1"])
        .arg("--key-in-url")
        .args(options)
        .env_remove("API_KEY")
        .env("LAPSED_API_KEY", keys.lapsed.expose())
        .env("REVOKED_API_KEY", keys.revoked.expose())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(key.expose().as_bytes()).await.unwrap();
    drop(input);
    let output = child.wait_with_output().await.unwrap();
    let (text, messages) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for (name, key) in keys.named() {
        assert!(!text.contains(key.expose()) && !messages.contains(key.expose()), "it prints the key {name}");
    }
    let document = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {messages}"));
    (Report(document), output.status.code())
}

/// Carries out all runs at once.
pub(crate) async fn carry_out_all(cloud: &Cloud, runs: Vec<Run>) {
    join_all(runs.into_iter().map(|run| carry_out(cloud, run))).await;
}
