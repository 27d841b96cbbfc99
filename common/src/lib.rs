//! What every function of the service shares.
