//! GET /v1/profile/{username}: a player and all of their profiles
