//! GET /v1/items: the item catalogue
