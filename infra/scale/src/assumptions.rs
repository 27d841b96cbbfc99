//! What the model takes from AWS's documentation and from the provider's, and what it assumes because it is not documented. Which
//! idle instance gets a request is assumed in `pool.rs`.

/// Concurrent executions of an account and region: the default quota. <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
pub const ACCOUNT_CONCURRENCY: f64 = 1_000.0;
/// Invocations per second for each unit of concurrency. <https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html>
pub const INVOCATIONS_PER_CONCURRENCY: f64 = 10.0;
/// Instances that Lambda starts at once for a function, and in ten seconds. <https://docs.aws.amazon.com/lambda/latest/dg/scaling-behavior.html>
pub const STARTS_AT_ONCE: f64 = 1_000.0;
/// The same per second.
pub const STARTS_PER_S: f64 = 100.0;
/// Requests per second of an account and region. <https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html>
pub const GATEWAY_RATE: f64 = 10_000.0;
/// The requests that it accepts at once.
pub const GATEWAY_BURST: f64 = 5_000.0;
/// API keys of an account and region, from the same page.
pub const API_KEYS: f64 = 10_000.0;
/// Read units, and write units, of an on-demand table: the default quota. <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html>
pub const TABLE_UNITS_PER_S: f64 = 40_000.0;
/// Write units of the recorders, which are the same at any load, as `cargo cost` measures them: 12.2 million a month.
pub const WRITE_UNITS_PER_S: f64 = 4.6;
/// The largest body that the stage cache stores.
pub const STORABLE_BYTES: f64 = 1_048_576.0;

/// Profiles that the provider's key may fetch in a window …
pub const PROFILE_FETCHES: f64 = 300.0;
/// … of this many seconds.
pub const PROFILE_WINDOW_S: f64 = 300.0;
/// How many fetches the service may be ahead of an even pace, as a share of the limit: `AHEAD` in `common/src/upstream/rate_limit.rs`.
pub const AHEAD: f64 = 0.1;
/// The bound that this service sets itself: fetches a second, over any minute.
pub const FETCHES_PER_S: f64 = 5.0;

/// Assumed: an instance that has been idle for this long ends. AWS gives no figure; users report 5 to 15 minutes.
pub(crate) const IDLE_S: f64 = 600.0;
/// Assumed: what the gateway takes for a request, in milliseconds.
pub(crate) const GATEWAY_MS: f64 = 6.0;
/// Assumed: the way from the gateway to a function and back.
pub(crate) const INVOKE_MS: f64 = 8.0;
/// Assumed: Lambda's own part of an invocation, which is billed.
pub(crate) const RUNTIME_MS: f64 = 1.0;
/// Assumed: the start of an instance until its function runs, of which the function itself takes about 14 ms.
pub(crate) const COLD_START_MS: f64 = 150.0;
/// Assumed: a response's way out of a function, bytes per millisecond.
pub(crate) const RESPONSE_BYTES_PER_MS: f64 = 100_000.0;
/// Assumed: a fetch from the provider, without the processor time here.
pub(crate) const PROVIDER_MS: f64 = 120.0;
/// Assumed: the resolution of a player's name, likewise.
pub(crate) const NAMES_MS: f64 = 100.0;
/// Assumed: a query of DynamoDB, likewise.
pub(crate) const TABLE_MS: f64 = 8.0;
/// Assumed: the share of these three that varies.
pub(crate) const VARIES: f64 = 0.5;
/// The memory in MB at which a function has one whole processor. <https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html>
pub(crate) const WHOLE_PROCESSOR_MB: f64 = 1_769.0;

/// Assumed: a key in use sends this many requests a second.
pub(crate) const REQUESTS_PER_KEY: f64 = 1.0;
/// Assumed: one key in this many that were issued is in use.
pub(crate) const ISSUED_PER_KEY_IN_USE: f64 = 4.0;
/// The fewest keys in use.
pub(crate) const FEWEST_KEYS: f64 = 10.0;
