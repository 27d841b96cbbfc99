//! The embedded `DynamoDB` of the local cloud.

use dynoxide::Database;

/// Serves the database; returns its endpoint.
pub(crate) fn serve(database: &Database) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let served = database.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            dynoxide::server::serve_on(listener, served).await;
        });
    });
    endpoint
}
