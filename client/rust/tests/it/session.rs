use std::time::Duration;

use opserve::operators::{GroupNorm, Hardshrink};
use opserve::{Client, DType, DeviceCall, ErrorKind, OnFailure, Tensor};

use crate::{connected, support};

fn numbers(count: usize) -> Tensor {
    Tensor::from((0..count).map(|number| number as f32).collect::<Vec<_>>())
}

#[tokio::test]
async fn an_executor_runs_as_often_as_is_wanted() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(numbers(8)).await.unwrap();
    let y = context.zeros(DType::Float32, [8]).unwrap();
    let call = DeviceCall::new("Hardshrink").input("self", &x).attribute("lambd", 5.5).output("out", &y);
    let executor = context.executor(call).await.unwrap();
    stream.run(&executor).await.unwrap();
    let first = stream.download(&y).await.unwrap();
    assert_eq!(first.to_vec::<f32>().unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 7.0]);
    stream.fill(&x, 9.0f32).await.unwrap();
    stream.run(&executor).await.unwrap();
    let second = stream.download(executor.output("out").unwrap()).await.unwrap();
    assert_eq!(second.to_vec::<f32>().unwrap(), [9.0; 8]);
    session.close().await.unwrap();
}

#[tokio::test]
async fn outputs_are_made_and_stay_on_the_device() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let stream = session.context_on("cpu:0").stream();
    let x = stream.tensor(Tensor::new([2, 2, 2], (0..8u8).map(f32::from).collect()).unwrap()).await.unwrap();
    let normed = stream.apply(GroupNorm::new(&x, 2, 2, 2, 1).eps(1e-9)).await.unwrap();
    let shrunk = stream.apply(Hardshrink::new(&normed.mean, 2.0)).await.unwrap();
    assert_eq!(stream.download(&shrunk).await.unwrap().to_vec::<f32>().unwrap(), [0.0, 5.5]);
    session.close().await.unwrap();
}

#[tokio::test]
async fn large_tensors_go_in_pieces() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let large = numbers(5_000_000);
    let x = stream.tensor(&large).await.unwrap();
    let y = context.zeros(DType::Float32, [5_000_000]).unwrap();
    stream.copy(&x, &y).await.unwrap();
    assert_eq!(stream.download(&y).await.unwrap().bytes(), large.bytes());
    assert!(context.memory().await.unwrap().peak_bytes >= 40_000_000);
    session.close().await.unwrap();
}

#[tokio::test]
async fn messages_are_as_small_as_the_server_wants() {
    let server = support::Server::start(&["--max-message-bytes", "512KiB"]);
    let client = Client::connect(server.target.as_str()).await.unwrap();
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let large = numbers(1_000_000);
    let x = stream.tensor(&large).await.unwrap();
    let mut small = Vec::new();
    for _ in 0..1000 {
        small.push(stream.tensor(numbers(500)).await.unwrap());
    }
    assert_eq!(stream.download(&x).await.unwrap().bytes(), large.bytes());
    assert_eq!(stream.download(&small[999]).await.unwrap().len(), 500);
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_failure_is_told_where_something_waits_and_names_its_place() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(numbers(4)).await.unwrap();
    let line = line!() + 1;
    stream.copy(&x, &context.zeros(DType::Float32, [3]).unwrap()).await.unwrap();
    let error = stream.download(&x).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let place = error.place().unwrap();
    assert!(place.file().ends_with("session.rs") && place.line() == line, "{error}");
    // It was told: the stream goes on.
    assert_eq!(stream.download(&x).await.unwrap().len(), 4);
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_stream_that_stopped_goes_on_once_that_was_told() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let labels = stream.tensor(Tensor::new([1], vec![7i64]).unwrap()).await.unwrap();
    let x = stream.tensor(Tensor::new([1, 2], vec![0.5f32, 1.5]).unwrap()).await.unwrap();
    let weight = stream.tensor(Tensor::new([2], vec![1.0f32, 1.0]).unwrap()).await.unwrap();
    let call = DeviceCall::new("NLLLoss").input("self", &x).input("target", &labels).input("weight", &weight);
    let loss = stream.execute(call).await.unwrap();
    stream.fill(&x, 2.0f32).await.unwrap(); // stands behind the failure, and is not run
    let error = stream.synchronize().await.unwrap_err();
    assert_eq!((error.operator(), error.parameter()), ("NLLLoss", "target"), "{error}");
    assert_eq!(stream.download(&x).await.unwrap().to_vec::<f32>().unwrap(), [0.5, 1.5]);
    drop(loss);
    session.close().await.unwrap();
}

#[tokio::test]
async fn events_order_streams() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let (one, two) = (context.stream(), context.stream_with(OnFailure::Continue));
    let (start, end) = (context.event(), context.event());
    one.record(&start).await.unwrap();
    let x = one.tensor(numbers(1000)).await.unwrap();
    one.record(&end).await.unwrap();
    two.wait(&end).await.unwrap();
    assert_eq!(two.download(&x).await.unwrap().bytes(), numbers(1000).bytes());
    end.synchronize().await.unwrap();
    assert!(end.is_reached().await.unwrap());
    assert!(end.elapsed_since(&start).await.unwrap().is_some());
    context.synchronize().await.unwrap();
    assert!(one.is_idle().await.unwrap());
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_command_that_is_late_fails() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(numbers(4)).await.unwrap();
    stream.with_timeout(Duration::from_nanos(1)).fill(&x, 1.0f32).await.unwrap();
    assert_eq!(stream.synchronize().await.unwrap_err().kind(), ErrorKind::Timeout);
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_wait_that_is_given_up_is_cancelled() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(numbers(4_000_000)).await.unwrap();
    for _ in 0..3 {
        let _ = tokio::time::timeout(Duration::from_micros(50), stream.download(&x)).await;
    }
    // What was given up is a failure on its stream, which is told to nobody.
    let _ = stream.synchronize().await;
    assert_eq!(stream.download(&x).await.unwrap().len(), 4_000_000);
    session.close().await.unwrap();
}

#[tokio::test]
async fn the_end_tells_what_nobody_waited_for() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(numbers(4)).await.unwrap();
    stream.copy(&x, &x).await.unwrap();
    assert_eq!(session.close().await.unwrap_err().parameter(), "destination");
    assert_eq!(stream.download(&x).await.unwrap_err().kind(), ErrorKind::Cancelled);
}

#[tokio::test]
async fn arguments_that_cannot_be_are_refused_here() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let x = context.zeros(DType::Float32, [2]).unwrap();
    assert_eq!(stream.fill(&x, 1.0f64).await.unwrap_err().to_string(), "value: want float32, got float64");
    assert_eq!(stream.upload(&x, numbers(3)).await.unwrap_err().to_string(), "tensor: want float32[2], got float32[3]");
    assert!(context.zeros(DType::Float32, [usize::MAX]).is_err());
    session.close().await.unwrap();
}

#[tokio::test]
async fn what_is_dropped_is_freed() {
    let (client, _server) = connected().await;
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    for _ in 0..4 {
        let x = context.zeros(DType::UInt8, [50 << 20]).unwrap();
        stream.fill(&x, 1u8).await.unwrap();
        context.synchronize().await.unwrap();
    }
    context.synchronize().await.unwrap();
    let memory = context.memory().await.unwrap();
    assert!(memory.used_bytes < 50 << 20 && memory.peak_bytes <= 110 << 20, "{memory:?}");
    drop(session);
}
