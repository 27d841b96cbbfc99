//! Signed requests to a server that records them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic, and so may its helpers")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use aws::{Client, Identity, JSON, Request, Service, SharedCredentialsProvider};
use aws_credential_types::Credentials;
use reqwest::Method;

static STORE: Service = Service {
    title: "Store",
    name: "store",
    accepts: JSON,
    attempt_timeout: Duration::from_secs(10),
    attempts: 3,
    temporary: &["BusyException"],
};

/// A server with these responses, one per connection, and the requests that it has read.
fn serve(responses: &[&str]) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    let responses: Vec<String> = responses.iter().map(ToString::to_string).collect();
    std::thread::spawn(move || {
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 16_384];
            let length = stream.read(&mut request).unwrap();
            sender.send(String::from_utf8_lossy(&request[..length]).into_owned()).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
        }
    });
    (endpoint, requests)
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}", body.len())
}

fn client(endpoint: &str) -> Client {
    let credentials = Credentials::new("AKID", "secret", Some("session".to_owned()), None, "test");
    let credentials = SharedCredentialsProvider::new(credentials);
    let identity = Identity { credentials, region: "eu-central-1".to_owned() };
    Client::new(&STORE, Some(endpoint), Some(identity)).unwrap()
}

fn request() -> Request<'static> {
    Request {
        operation: "PutThing",
        method: Method::POST,
        path: &["things", "a/b"],
        query: &[("position", "x=y&z")],
        json: Some(b"{}".to_vec()),
    }
}

#[tokio::test]
async fn a_request_is_encoded_and_signed_without_the_secret() {
    let (endpoint, requests) = serve(&[&response("201 Created", "", "made")]);
    let body = client(&endpoint).send(&request()).await.unwrap().into_body().unwrap();
    assert_eq!(&body[..], b"made");
    let sent = requests.recv().unwrap();
    assert!(sent.starts_with("POST /things/a%2Fb?position=x%3Dy%26z HTTP/1.1\r\n"), "{sent}");
    for part in [
        "accept: application/json\r\n",
        "content-type: application/json\r\n",
        "authorization: AWS4-HMAC-SHA256 Credential=AKID/",
        "/eu-central-1/store/aws4_request, ",
        "x-amz-security-token: session\r\n",
        "\r\n\r\n{}",
    ] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    assert!(!sent.contains("secret"), "{sent}");
}

#[tokio::test]
async fn what_is_temporary_is_repeated_and_the_last_error_has_the_services_code() {
    let throttled = response("429 X", "", "");
    let busy = response("409 X", "x-amzn-errortype: BusyException:http://internal.example\r\n", "{}");
    let failed = response("500 X", "", "");
    let conflict = response("409 X", "x-amzn-errortype: ConflictException\r\n", r#"{"message":"taken"}"#);
    let slow = response("400 X", "", "<Error><Code>Throttling</Code></Error>");
    for (responses, code, cause) in [
        ([&*throttled, &busy, &conflict].as_slice(), "ConflictException", "ConflictException: taken"),
        (&[&*slow, &failed, &busy], "BusyException", "BusyException: {}"),
        (&[&*conflict], "ConflictException", "ConflictException: taken"),
        (&[&*failed, &failed, &failed], "500 Internal Server Error", "500 Internal Server Error: "),
    ] {
        let (endpoint, requests) = serve(responses);
        let error = client(&endpoint).send(&request()).await.unwrap().into_body().unwrap_err();
        assert!(error.is(code), "{error:?}");
        assert_eq!(error.to_string(), format!("Store failed at PutThing: {cause}"));
        assert_eq!(requests.iter().count(), responses.len());
    }
}

#[tokio::test]
async fn no_response_is_an_error_without_a_code_or_an_address() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for endpoint in [format!("http://user:password@{unused}"), "nowhere".to_owned()] {
        let error = client(&endpoint).send(&request()).await.unwrap_err();
        assert_eq!(error.code, None);
        let text = error.to_string();
        assert!(text.starts_with("Store failed at PutThing: ") && !text.contains("password"), "{text}");
    }
}
