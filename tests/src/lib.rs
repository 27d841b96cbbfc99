//! Black-box tests through the local cloud.
