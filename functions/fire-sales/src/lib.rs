//! GET /v1/fire-sales: the active and upcoming fire sales
