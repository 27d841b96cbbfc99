//! Servers that respond as a test decides.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};

/// A listener on a free port, and its URL.
pub(crate) fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

/// Starts a server that responds to each request with `respond`. Returns its URL, and a receiver of its
/// requests.
pub(crate) fn serve(respond: impl Fn(&str) -> Vec<u8> + Send + 'static) -> (String, Receiver<String>) {
    let (sender, requests) = mpsc::channel();
    let (listener, url) = listen();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let mut request = String::new();
            let mut buffer = [0; 4096];
            // A request ends after its head or after its body, which is a JSON object. The program may close
            // the connection early.
            while !request.ends_with("\r\n\r\n") && !request.ends_with('}') {
                match stream.read(&mut buffer) {
                    Ok(length @ 1..) => request.push_str(str::from_utf8(&buffer[..length]).unwrap()),
                    _ => break,
                }
            }
            let _ = stream.write_all(&respond(&request));
            let _ = sender.send(request);
        }
    });
    (url, requests)
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n{body}").into_bytes()
}
