//! The crate beside bare tonic, which sends the same bytes to the same server with the same timeout and takes what comes back as
//! bytes, too:
//! `cargo run --release --example benchmark -- localhost:8500`. Calls per second of 8 floats with 1 and 16 under way, GB/s of 16 MiB each way.

use std::future::Future;
use std::time::{Duration, Instant};

use bytes::{Buf, BufMut, Bytes};
use opserve::{Call, Client, DType, Tensor, proto};
use prost::Message;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};

/// The two take turns, so that what else the machine does meets both; the medians are printed.
const ROUNDS: usize = 7;
const DURATION: Duration = Duration::from_millis(400);
const TIMEOUT: Duration = Duration::from_secs(60);
const LARGE: usize = 4 << 20;
const MESSAGE_BYTES: usize = 1 << 30;

/// Messages that are bytes.
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(item.len());
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

fn relu(elements: usize) -> Call {
    Call::new("Relu").input("self", vec![1.0f32; elements])
}

/// The same call as a message.
fn message(elements: usize) -> Bytes {
    let input = proto::Tensor {
        name: "self".to_owned(),
        dtype: proto::DataType::Float32 as i32,
        shape: vec![elements as i64],
        data: Some(proto::tensor::Data::RawIndex(0)),
        ..Default::default()
    };
    let call = proto::Call { op: "Relu".to_owned(), inputs: vec![input], ..Default::default() };
    let raw = vec![Bytes::from(vec![0; elements * DType::Float32.size_bytes()])];
    proto::ExecuteRequest { call: Some(call), raw, ..Default::default() }.encode_to_vec().into()
}

async fn by_crate(client: Client, call: Call) {
    let outputs = client.execute(call).await.expect("a call succeeds");
    assert!(!outputs["out"].bytes().is_empty());
}

async fn by_tonic(channel: Channel, message: Bytes) {
    let mut grpc = tonic::client::Grpc::new(channel).max_decoding_message_size(MESSAGE_BYTES);
    grpc.ready().await.expect("a connection");
    let path = PathAndQuery::from_static("/opserve.v1.OperatorService/Execute");
    let mut request = Request::new(message);
    request.set_timeout(TIMEOUT);
    grpc.unary(request, path, BytesCodec).await.expect("a call succeeds");
}

/// Calls per second with so many under way.
async fn rate<F>(under_way: usize, call: impl Fn() -> F + Clone + Send + 'static) -> f64
where
    F: Future<Output = ()> + Send,
{
    call().await;
    let began = Instant::now();
    let tasks: Vec<_> = (0..under_way)
        .map(|_| {
            let call = call.clone();
            tokio::spawn(async move {
                let mut count = 0;
                while began.elapsed() < DURATION {
                    call().await;
                    count += 1;
                }
                count
            })
        })
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await.expect("no panic");
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = std::env::args().nth(1).unwrap_or_else(|| "localhost:8500".to_owned());
    let client = Client::builder().target(target.as_str()).timeout(TIMEOUT).connect().await?;
    let channel = Channel::from_shared(format!("http://{target}"))?
        .initial_stream_window_size(8 << 20)
        .initial_connection_window_size(16 << 20)
        .connect()
        .await?;
    println!("{:<24}{:>14}{:>14}{:>8}", "", "opserve", "bare tonic", "ratio");
    for (name, elements, under_way) in
        [("8 floats, 1 under way", 8, 1), ("8 floats, 16 under way", 8, 16), ("16 MiB each way", LARGE, 1)]
    {
        let (call, bytes) = (relu(elements), message(elements));
        let (client, channel) = (client.clone(), channel.clone());
        let by_crate = move || by_crate(client.clone(), call.clone());
        let by_tonic = move || by_tonic(channel.clone(), bytes.clone());
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(rate(under_way, by_crate.clone()).await);
            bare.push(rate(under_way, by_tonic.clone()).await);
        }
        let (ours, bare) = (median(ours), median(bare));
        let is_large = elements == LARGE;
        let size = Tensor::from(vec![0.0f32; elements]).bytes().len() as f64 * 2.0 / 1e9;
        let (scale, unit) = if is_large { (size, "GB/s") } else { (1.0, "calls/s") };
        println!("{name:<24}{:>9.2} {unit:<7}{:>7.2} {unit:<7}{:>5.2}", ours * scale, bare * scale, ours / bare);
    }
    Ok(())
}
