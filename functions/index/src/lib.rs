//! GET / and every unknown route
