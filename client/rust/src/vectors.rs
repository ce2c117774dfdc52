//! The vectors of proto/conformance, sent and read as this crate sends and reads. The rules are in their README.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde_json::{Value, json};
use tonic::Code;
use tonic::codegen::tokio_stream;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::proto::{self, answer, tensor::Data};

#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

const EACH: Duration = Duration::from_secs(30);

struct Vectors {
    pool: DescriptorPool,
    client: Client,
    _server: Arc<support::Server>,
}

fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto/conformance").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    cases["cases"].as_array().unwrap().clone()
}

impl Vectors {
    async fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/descriptors.binpb");
        let pool = DescriptorPool::decode(std::fs::read(path).unwrap().as_slice()).unwrap();
        let server = support::Server::shared();
        let client = Client::connect(server.target.as_str()).await.unwrap();
        Self { pool, client, _server: server }
    }

    /// The message that proto3 JSON describes.
    fn message<M: Message + Default>(&self, name: &str, json: &Value) -> M {
        let descriptor = self.pool.get_message_by_name(&format!("opserve.v1.{name}")).unwrap();
        DynamicMessage::deserialize(descriptor, json.clone()).unwrap().transcode_to().unwrap()
    }

    /// A message as JSON, with the defaults of fields that have no presence.
    fn told<M: Message>(&self, name: &str, message: &M) -> Value {
        let descriptor = self.pool.get_message_by_name(&format!("opserve.v1.{name}")).unwrap();
        let message = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).unwrap();
        let options = SerializeOptions::new().skip_default_fields(false);
        message.serialize_with_options(serde_json::value::Serializer, &options).unwrap()
    }

    async fn unary<E, D>(&self, method: &str, path: &'static str, case: &Value) -> Result<Value>
    where
        E: Message + Default + Clone + 'static,
        D: Message + Default + 'static,
    {
        let request: E = self.message(&format!("{method}Request"), &case["request"]);
        let transport = self.client.transport();
        let answer: D = transport.unary(path, request, transport.deadline(Some(EACH))).await?;
        Ok(self.told(&format!("{method}Response"), &answer))
    }

    async fn call(&self, case: &Value) -> Result<Value> {
        macro_rules! methods {
            ($($method:literal: $request:ident $response:ident),*) => {
                match case["method"].as_str().unwrap() {
                    $($method => {
                        let path = concat!("/opserve.v1.OperatorService/", $method);
                        self.unary::<proto::$request, proto::$response>($method, path, case).await
                    })*
                    method => panic!("{method} is not a method that this test knows"),
                }
            };
        }
        methods! {
            "Execute": ExecuteRequest ExecuteResponse,
            "ExecuteBatch": ExecuteBatchRequest ExecuteBatchResponse,
            "GetServerInfo": GetServerInfoRequest GetServerInfoResponse,
            "GetStatistics": GetStatisticsRequest GetStatisticsResponse,
            "GetWorkspaceSize": GetWorkspaceSizeRequest GetWorkspaceSizeResponse,
            "ListDevices": ListDevicesRequest ListDevicesResponse,
            "ListOperators": ListOperatorsRequest ListOperatorsResponse
        }
    }
}

/// Where something does not match; none where it does.
fn difference(got: &Value, want: &Value, place: &str) -> Option<String> {
    let differs = || Some(format!("{place}: want {want}, got {got}"));
    match want {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let found = got.get(name).unwrap_or(&Value::Null);
            let is_default = [json!(0), json!("0"), json!(false), json!(""), json!([]), json!({})].contains(value);
            if found.is_null() && is_default { None } else { difference(found, value, &format!("{place}.{name}")) }
        }),
        Value::Array(values) => {
            let empty = Vec::new();
            let found = got.as_array().unwrap_or(&empty);
            if found.len() != values.len() {
                return differs();
            }
            let mut pairs = found.iter().zip(values).enumerate();
            pairs.find_map(|(index, (got, want))| difference(got, want, &format!("{place}[{index}]")))
        }
        _ if got == want || (number(got).is_some() && number(got) == number(want)) => None,
        _ => differs(),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// The name that gRPC gives a code: INVALID_ARGUMENT.
fn name_of(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// An error as the vectors describe one.
fn error_told(error: &Error) -> Value {
    let code = error.aclnn_code().map_or_else(String::new, |code| code.to_string());
    let (operator, parameter, want, got) = (error.operator(), error.parameter(), error.want(), error.got());
    let metadata = json!({"code": code, "operator": operator, "parameter": parameter, "want": want, "got": got});
    json!({"code": name_of(error.code()), "reason": error.reason(), "metadata": metadata})
}

#[tokio::test]
async fn unary_calls() {
    let vectors = Vectors::new().await;
    let cases = cases("unary.json");
    assert!(cases.len() > 10);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let problem = match (vectors.call(&case).await, case.get("error")) {
            (Ok(answer), None) => {
                difference(&answer, &case["response"], name).or_else(|| error_too_many(&answer, &case))
            }
            (Err(error), Some(want)) => difference(&error_told(&error), want, name),
            (Ok(answer), Some(_)) => Some(format!("{name}: want an error, got {answer}")),
            (Err(error), None) => Some(format!("{name}: {error}")),
        };
        assert_eq!(problem, None);
    }
}

/// What has no error in the vector must have none.
fn error_too_many(answer: &Value, case: &Value) -> Option<String> {
    let results = answer["results"].as_array()?.iter().zip(case["response"]["results"].as_array()?);
    let has_error = |value: &Value| value.get("error").is_some_and(|error| !error.is_null());
    let mut wrong = results.filter(|(got, want)| has_error(got) && !has_error(want));
    wrong.next().map(|(got, _)| format!("{}: {got}", case["name"]))
}

/// An answer, and the entries of `raw` that it names, numbered anew.
fn renumbered(mut answer: proto::Answer, raw: &[Bytes]) -> (proto::Answer, Vec<Bytes>) {
    let mut indices: Vec<u32> = Vec::new();
    let mut renumber = |index: &mut u32| {
        let known = indices.iter().position(|other| other == index);
        *index = known.unwrap_or_else(|| {
            indices.push(*index);
            indices.len() - 1
        }) as u32;
    };
    match &mut answer.answer {
        Some(answer::Answer::Chunk(chunk)) => renumber(&mut chunk.raw_index),
        Some(answer::Answer::Outputs(outputs)) => {
            for tensor in &mut outputs.outputs {
                if let Some(Data::RawIndex(index)) = &mut tensor.data {
                    renumber(index);
                }
            }
        }
        _ => {}
    }
    (answer, indices.into_iter().map(|index| raw[index as usize].clone()).collect())
}

/// The answers of a session by command, and how it ended.
async fn converse(vectors: &Vectors, case: &Value) -> (BTreeMap<u64, Vec<(proto::Answer, Vec<Bytes>)>>, Result<()>) {
    let messages = case["messages"].as_array().unwrap().iter();
    let messages: Vec<proto::SessionRequest> = messages.map(|text| vectors.message("SessionRequest", text)).collect();
    let transport = vectors.client.transport();
    let path = "/opserve.v1.SessionService/Session";
    let mut came = BTreeMap::<u64, Vec<_>>::new();
    let opened = transport.stream(path, || tokio_stream::iter(messages.clone())).await;
    let mut answers = match opened {
        Ok(answers) => answers,
        Err(error) => return (came, Err(error)),
    };
    loop {
        let message: proto::SessionResponse = match answers.message().await {
            Ok(Some(message)) => message,
            Ok(None) => return (came, Ok(())),
            Err(status) => return (came, Err(status.into())),
        };
        for answer in message.answers {
            came.entry(answer.id).or_default().push(renumbered(answer, &message.raw));
        }
    }
}

#[tokio::test]
async fn sessions() {
    let vectors = Vectors::new().await;
    let cases = cases("session.json");
    assert!(cases.len() > 10);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (mut came, end) = tokio::time::timeout(EACH, converse(&vectors, &case)).await.expect(name);
        let notices = came.remove(&0).unwrap_or_default();
        assert!(matches!(notices[0].0.answer, Some(answer::Answer::Info(_))), "{name}");
        match (&end, case.get("end")) {
            (Ok(()), None) => {}
            (Err(error), Some(want)) => assert_eq!(difference(&error_told(error), want, name), None),
            (end, want) => panic!("{name}: want {want:?}, got {end:?}"),
        }
        check_answers(&vectors, &came, &case);
    }
}

fn check_answers(vectors: &Vectors, came: &BTreeMap<u64, Vec<(proto::Answer, Vec<Bytes>)>>, case: &Value) {
    let name = case["name"].as_str().unwrap();
    let empty = serde_json::Map::new();
    let wanted = case.get("answers").map_or(&empty, |answers| answers.as_object().unwrap());
    let commands: BTreeMap<u64, _> = wanted.iter().map(|(id, answers)| (id.parse().unwrap(), answers)).collect();
    assert!(came.keys().eq(commands.keys()), "{name}: want answers to {:?}, got {:?}", commands.keys(), came.keys());
    for (id, answers) in commands {
        let (got, want) = (&came[&id], answers.as_array().unwrap());
        assert_eq!(got.len(), want.len(), "{name}: answers to {id}");
        for ((answer, raw), want) in got.iter().zip(want) {
            let mut want = want.clone();
            let wanted_raw = want.as_object_mut().unwrap().remove("raw").unwrap_or_else(|| json!([]));
            let message = proto::SessionRequest { raw: raw.clone(), ..Default::default() };
            assert_eq!(difference(&vectors.told("SessionRequest", &message)["raw"], &wanted_raw, name), None);
            assert_eq!(difference(&vectors.told("Answer", answer), &want, name), None);
            assert!(want.get("error").is_some() || answer.error.is_none(), "{name}: {answer:?}");
            assert_eq!(answer.more, want["more"].as_bool().unwrap_or(false), "{name}");
        }
    }
}
