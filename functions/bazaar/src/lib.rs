//! GET /v1/bazaar: the bazaar, whole or processed
