//! Who may ask: keys, accounts, the authorizer's decision, what the gateway makes of it, and how often.

mod admin;
mod decision;
mod gateway;
mod rows;
mod stage_cache;
mod throttling;
