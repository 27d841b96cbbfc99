//! A believable game upstream, seeded, at real size, with faults on demand.
