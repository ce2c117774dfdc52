//! Servers that answer what makes no sense.

use opserve::proto::{
    Answer, BatchResult, Draining, ExecuteBatchResponse, ExecuteResponse, OutputChunk, SessionInfo, SessionResponse,
    Tensor, answer, tensor::Data,
};
use opserve::{Call, Client, Code, DType, ErrorKind};
use prost::Message;

use crate::fake::{Fake, Reply};

async fn client_of(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Client {
    let server = Fake::start(move |_, _| reply()).await;
    Client::builder().target(server.target).max_answer_bytes(1 << 20).connect_lazy().unwrap()
}

async fn execution(message: Vec<u8>) -> opserve::Result<opserve::Outputs> {
    client_of(move || Reply::bytes(message.clone())).await.execute(Call::new("Relu")).await
}

#[tokio::test]
async fn answers_that_make_no_sense_are_errors() {
    let output = |shape: &[i64], index| Tensor {
        name: "out".to_owned(),
        dtype: 1,
        shape: shape.to_vec(),
        data: Some(Data::RawIndex(index)),
        ..Default::default()
    };
    let response =
        |outputs| ExecuteResponse { outputs, raw: vec![vec![0u8; 8].into()], ..Default::default() }.encode_to_vec();
    assert!(execution(response(vec![output(&[2], 0)])).await.is_ok());
    for message in [
        response(vec![output(&[3], 0)]),
        response(vec![output(&[-2], 0)]),
        response(vec![output(&[i64::MAX, i64::MAX], 0)]),
        response(vec![output(&[2], 7)]),
        vec![0xFF; 100],
        vec![0x0A, 0x7F],
        vec![0x7A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
    ] {
        let error = execution(message.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{message:?}: {error}");
        assert!(error.message().contains("makes no sense"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_taken() {
    let error = execution(vec![0; (1 << 20) + 1]).await.unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
}

#[tokio::test]
async fn details_that_are_none_leave_the_status() {
    for details in ["////", "AAAA", ""] {
        let client =
            client_of(move || Reply::status(3).with("grpc-status-details-bin", details).with("grpc-message", "no"))
                .await;
        let error = client.execute(Call::new("Relu")).await.unwrap_err();
        assert_eq!((error.reason(), error.retry_after()), ("", None), "{details}");
    }
}

#[tokio::test]
async fn a_batch_of_other_results_than_calls_is_an_error() {
    let answer = ExecuteBatchResponse { results: vec![BatchResult::default()], ..Default::default() };
    let client = client_of(move || Reply::message(&answer)).await;
    let error = client.execute_batch([Call::new("Relu"), Call::new("Relu")]).await.unwrap_err();
    assert!(error.message().contains("1 results of 2 calls"), "{error}");
}

#[tokio::test]
async fn a_server_without_limits_is_not_one() {
    let server = Fake::start(|_, _| Reply::bytes(Vec::new())).await;
    let error = Client::connect(server.target.as_str()).await.unwrap_err();
    assert!(error.message().contains("max_message_bytes is 0"), "{error}");
}

fn info() -> Answer {
    let info = SessionInfo { max_queued_commands: 100, max_message_bytes: 1 << 20, ..Default::default() };
    Answer { answer: Some(answer::Answer::Info(info)), ..Default::default() }
}

/// What a download gives from a server that answers it so; the commands before it are 1 to 3, it is 4 and wants 8 bytes.
async fn download_answered(answers: Vec<Answer>) -> opserve::Result<opserve::Tensor> {
    let server = Fake::start(move |_, _| {
        let first = SessionResponse { answers: vec![info()], ..Default::default() };
        let second = SessionResponse { answers: answers.clone(), raw: vec![vec![0u8; 8].into(), vec![0u8; 9].into()] };
        Reply { messages: vec![first.encode_to_vec(), second.encode_to_vec()], ..Default::default() }
    })
    .await;
    let client = Client::builder().target(server.target).connect_lazy().unwrap();
    let session = client.session().await?;
    let context = session.context();
    let tensor = context.zeros(DType::Float32, [2])?;
    context.stream().download(&tensor).await
}

#[tokio::test]
async fn a_session_ends_for_an_answer_that_makes_no_sense() {
    let done = |id| Answer { id, ..Default::default() };
    let chunk = |id, offset_bytes, raw_index| {
        let chunk = OutputChunk { offset_bytes, raw_index, ..Default::default() };
        Answer { id, more: true, answer: Some(answer::Answer::Chunk(chunk)), ..Default::default() }
    };
    let with = |answers: &[Answer]| [&[done(1), done(2), done(3)], answers].concat();
    assert_eq!(download_answered(with(&[chunk(4, 0, 0), done(4)])).await.unwrap().len(), 2);
    for (answers, what) in [
        (vec![done(77)], "command 77 is not under way"),
        (vec![done(1), done(1)], "command 1 is not under way"),
        (vec![chunk(1, 0, 0)], "a chunk for command 1"),
        (vec![chunk(4, 0, 9)], "a chunk for command 4"),
        (vec![chunk(4, 4, 0)], "a chunk is out of place"),
        (vec![chunk(4, 0, 1)], "a chunk is out of place"),
        (with(&[done(4)]), "0 of 8 bytes came"),
    ] {
        let error = download_answered(answers).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Internal && error.message().contains(what), "{what}: {error}");
    }
}

#[tokio::test]
async fn notices_that_nobody_knows_are_ignored() {
    let draining = Answer { answer: Some(answer::Answer::Draining(Draining {})), ..Default::default() };
    let unknown = Answer::default();
    let answers = SessionResponse { answers: vec![unknown, draining, info()], ..Default::default() };
    let server = Fake::start(move |_, _| Reply::message(&answers)).await;
    let client = Client::builder().target(server.target).connect_lazy().unwrap();
    let session = client.session().await.unwrap();
    assert!(session.is_draining());
    session.close().await.unwrap();
}
