//! A server by hand: it answers whatever a test says, over plain HTTP/2.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use h2::server::SendResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use prost::Message;
use tokio::net::{TcpListener, TcpStream};

/// What one call is answered.
#[derive(Default)]
pub struct Reply {
    /// The messages, as they are.
    pub messages: Vec<Vec<u8>>,
    /// gRPC's code.
    pub status: i32,
    /// Further trailing metadata.
    pub metadata: Vec<(&'static str, String)>,
}

impl Reply {
    pub fn message(message: &impl Message) -> Self {
        Self::bytes(message.encode_to_vec())
    }

    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { messages: vec![bytes], ..Self::default() }
    }

    pub fn status(status: i32) -> Self {
        Self { status, ..Self::default() }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.metadata.push((name, value.to_owned()));
        self
    }
}

pub struct Fake {
    pub target: String,
    calls: Arc<AtomicUsize>,
}

impl Fake {
    /// A server that answers its calls by their path and number, from 0 on.
    pub async fn start(answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap().to_string();
        let calls = Arc::new(AtomicUsize::new(0));
        let (answer, counted) = (Arc::new(answer), calls.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, answer.clone(), counted.clone()));
            }
        });
        Self { target, calls }
    }

    /// How many calls came.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

async fn serve(
    socket: TcpStream,
    answer: Arc<impl Fn(&str, usize) -> Reply + Send + Sync + 'static>,
    calls: Arc<AtomicUsize>,
) {
    let Ok(mut connection) = h2::server::handshake(socket).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let reply = answer(request.uri().path(), calls.fetch_add(1, Ordering::SeqCst));
        tokio::spawn(respond_to(request, respond, reply));
    }
}

async fn respond_to(request: Request<h2::RecvStream>, mut respond: SendResponse<bytes::Bytes>, reply: Reply) {
    let response = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let Ok(mut stream) = respond.send_response(response, false) else { return };
    let is_session = request.uri().path().ends_with("/Session");
    let mut body = request.into_body();
    for (number, message) in reply.messages.iter().enumerate() {
        if is_session && number == 1 {
            body.data().await; // what comes behind the first message answers commands
        }
        let mut frame = vec![0];
        frame.extend_from_slice(&(message.len() as u32).to_be_bytes());
        frame.extend_from_slice(message);
        let _ = stream.send_data(frame.into(), false);
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(reply.status));
    for (name, value) in reply.metadata {
        trailers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    if !is_session || reply.status != 0 {
        let _ = stream.send_trailers(trailers);
        return;
    }
    // A session goes on until its client half-closes.
    while let Some(Ok(data)) = body.data().await {
        let _ = body.flow_control().release_capacity(data.len());
    }
    let _ = stream.send_trailers(trailers);
}
