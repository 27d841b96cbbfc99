//! Black-box tests: the real binaries behind the local cloud, asked over HTTP. One file per promise.

mod support;

mod shapes;
