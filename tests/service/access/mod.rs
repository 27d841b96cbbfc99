//! Who may ask: keys, accounts, the authorizer's decision, what the gateway makes of it, and how often.

mod decision;
mod rows;
