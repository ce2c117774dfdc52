use std::time::{Duration, Instant};

use opserve::proto::{ExecuteResponse, google::rpc};
use opserve::{Call, Client, Code, ErrorKind};

use crate::fake::{Fake, Reply};

const UNAVAILABLE: i32 = 14;
const EXHAUSTED: i32 = 8;

fn client_of(target: &str) -> Client {
    Client::builder().target(target).connect_lazy().unwrap()
}

async fn failing(status: i32, pushback: Option<&'static str>, times: usize) -> Fake {
    Fake::start(move |_, number| match pushback {
        _ if number >= times => Reply::message(&ExecuteResponse::default()),
        Some(pushback) => Reply::status(status).with("grpc-retry-pushback-ms", pushback),
        None => Reply::status(status),
    })
    .await
}

#[tokio::test]
async fn what_is_unavailable_is_tried_four_times() {
    let server = failing(UNAVAILABLE, None, 3).await;
    assert!(client_of(&server.target).execute(Call::new("Relu")).await.is_ok());
    assert_eq!(server.calls(), 4);
    let server = failing(UNAVAILABLE, None, 4).await;
    let error = client_of(&server.target).execute(Call::new("Relu")).await.unwrap_err();
    assert_eq!((server.calls(), error.kind()), (4, ErrorKind::Unavailable));
}

#[tokio::test]
async fn what_is_exhausted_is_tried_again_when_the_server_says() {
    let server = failing(EXHAUSTED, Some("30"), 2).await;
    let began = Instant::now();
    assert!(client_of(&server.target).execute(Call::new("Relu")).await.is_ok());
    assert!(began.elapsed() >= Duration::from_millis(60));
    assert_eq!(server.calls(), 3);
    for pushback in [None, Some("-1"), Some("soon")] {
        let server = failing(EXHAUSTED, pushback, 4).await;
        let error = client_of(&server.target).execute(Call::new("Relu")).await.unwrap_err();
        assert_eq!((server.calls(), error.code()), (1, Code::ResourceExhausted), "{pushback:?}");
    }
}

#[tokio::test]
async fn a_server_may_forbid_another_try() {
    let server = failing(UNAVAILABLE, Some("-1"), 4).await;
    assert!(client_of(&server.target).execute(Call::new("Relu")).await.is_err());
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn no_wait_goes_beyond_the_deadline() {
    let server = failing(EXHAUSTED, Some("60000"), 4).await;
    let call = Call::new("Relu").timeout(Duration::from_secs(20));
    let began = Instant::now();
    let error = client_of(&server.target).execute(call).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn the_time_to_wait_may_be_in_the_details() {
    use opserve::proto::google::protobuf::{Any, Duration as Delay};
    use prost::Message;

    let info = rpc::RetryInfo { retry_delay: Some(Delay { seconds: 0, nanos: 1_000_000 }) };
    let detail = Any { type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(), value: info.encode_to_vec() };
    let status = rpc::Status { code: EXHAUSTED, message: "full".to_owned(), details: vec![detail] };
    let details = base64(&status.encode_to_vec());
    let server = Fake::start(move |_, number| match number {
        0 => Reply::status(EXHAUSTED).with("grpc-status-details-bin", &details),
        _ => Reply::message(&ExecuteResponse::default()),
    })
    .await;
    assert!(client_of(&server.target).execute(Call::new("Relu")).await.is_ok());
    assert_eq!(server.calls(), 2);
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number =
            group.iter().enumerate().fold(0u32, |number, (at, byte)| number | u32::from(*byte) << (16 - 8 * at));
        for at in 0..=group.len() {
            text.push(LETTERS[(number >> (18 - 6 * at)) as usize & 63] as char);
        }
    }
    text
}

#[tokio::test]
async fn calls_take_turns_and_go_past_a_server_that_is_not_there() {
    let (one, two) = (failing(0, None, 0).await, failing(0, None, 0).await);
    let client = client_of(&format!("127.0.0.1:1,{},{}", one.target, two.target));
    let began = Instant::now();
    for _ in 0..12 {
        client.execute(Call::new("Relu")).await.unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(one.calls() + two.calls(), 12);
    assert!(one.calls() >= 3 && two.calls() >= 3, "{} and {}", one.calls(), two.calls());
}

#[tokio::test]
async fn a_connection_that_breaks_is_made_anew() {
    use tokio::net::TcpListener;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = listener.local_addr().unwrap().to_string();
    let accepting = tokio::spawn(async move {
        for _ in 0..2 {
            drop(listener.accept().await);
        }
        2
    });
    let error = client_of(&target).execute(Call::new("Relu").timeout(Duration::from_secs(20))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(accepting.await.unwrap(), 2);
}
