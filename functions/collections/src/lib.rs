//! GET /v1/collections: the collections and their tiers
