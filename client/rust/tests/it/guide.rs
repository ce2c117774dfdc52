//! The functions of docs/rust.md, run; and the check that they are there word for word.

use std::path::Path;
use std::time::Duration;

use opserve::operators::{LayerNorm, Matmul, MseLoss, Reduction, SmoothL1Loss};
use opserve::{Call, Client, Code, DType, DeviceCall, ErrorKind, Outputs, Program, Spec, Tensor, Tls};

use crate::connected;

async fn first_gradient() -> opserve::Result<()> {
    let client = Client::builder().connect().await?;
    let x = Tensor::new([4, 2], vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
    let call = Call::new("SmoothL1LossBackward")
        .input("grad_out", 1.0f32)
        .input("self", x)
        .input("target", Tensor::full([4, 2], 1.0f32)?)
        .attribute("reduction", "none")
        .attribute("beta", 1.0);
    let outputs = client.execute(call).await?;
    assert_eq!(outputs["grad_input"].to_vec::<f32>()?, [-1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    Ok(())
}

async fn tensors(client: &Client) -> opserve::Result<()> {
    let transposed = Tensor::strided([3, 2], [1, 3], 0, vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    let call = Call::new("Relu").input("self", transposed).output_dtype("out", DType::Float16);
    let mut outputs = client.execute(call).await?;
    let out = outputs.take("out")?;
    assert_eq!((out.dtype(), out.shape()), (DType::Float16, &[3, 2][..]));
    assert_eq!(out.elements::<half::f16>()?[1].to_f32(), 3.0);
    assert_eq!(out.to_array::<half::f16>()?[[2, 1]].to_f32(), 5.0);
    Ok(())
}

async fn typed_operators(client: &Client) -> opserve::Result<()> {
    let loss = SmoothL1Loss::new(vec![1.0f32, 2.0], vec![1.5f32, 4.0]).reduction(Reduction::Sum);
    assert_eq!(client.apply(loss).await?.to_vec::<f32>()?, [1.625]);

    let x = Tensor::new([2, 2], vec![1.0f32, 3.0, 2.0, 6.0])?;
    let normed = client.apply(LayerNorm::new(x, [2])).await?;
    assert_eq!(normed.mean.to_vec::<f32>()?, [2.0, 4.0]);
    Ok(())
}

async fn many_calls(client: &Client) -> opserve::Result<()> {
    let good = Call::new("Relu").input("self", vec![-1.0f32, 2.0]);
    let bad = Call::new("Hardshrink").input("self", vec![1.0f32]);
    let results = client.execute_batch([good.clone(), bad]).await?;
    assert_eq!(results[0].as_ref().map(|outputs| outputs["out"].len()).ok(), Some(2));
    assert_eq!(results[1].as_ref().err().map(|error| error.parameter()), Some("lambd"));

    let tasks: Vec<_> = (0..16).map(|_| tokio::spawn(run(client.clone(), good.clone()))).collect();
    for task in tasks {
        assert_eq!(task.await.expect("no panic")?["out"].len(), 2);
    }
    Ok(())
}

async fn run(client: Client, call: Call) -> opserve::Result<Outputs> {
    client.execute(call).await
}

async fn plan(client: &Client) -> opserve::Result<()> {
    let x = Spec::new(DType::Float32, [64, 1000]);
    let call = Call::new("L1Loss").input("self", x.clone()).input("target", x.clone()).attribute("reduction", "none");
    let plan = client.plan(call).await?;
    assert_eq!((plan.output("out"), plan.output_bytes), (Some(&x), 256_000));
    Ok(())
}

async fn program(client: &Client) -> opserve::Result<()> {
    let mut program = Program::new();
    let (x, w) = (program.input("x"), program.input("w"));
    let y = program.step("y", Matmul::new(x, w.view([2, 2], [1, 2], 0)?))?;
    let loss = program.step("loss", MseLoss::new(y.reshape([-1])?, vec![0.0f32, 0.0]))?;
    program.output("loss", &loss)?;
    program.gradient(&loss, ["w"])?;

    let x = Tensor::new([1, 2], vec![1.0f32, 2.0])?;
    let w = Tensor::new([2, 2], vec![1.0f32, 0.0, 0.0, 1.0])?;
    let outputs = client.execute(Call::of(&program).input("x", x).input("w", w)).await?;
    assert_eq!(outputs["grad_w"].to_vec::<f32>()?, [1.0, 2.0, 2.0, 4.0]);
    Ok(())
}

async fn errors(client: &Client) -> opserve::Result<()> {
    let x = Tensor::from(vec![1.0f32]);
    let error = client.apply(SmoothL1Loss::new(&x, &x).beta(-1.0)).await.unwrap_err();
    assert_eq!(error.to_string(), "OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1");
    assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidArgument, Code::InvalidArgument));
    assert_eq!((error.reason(), error.aclnn_code()), ("OUT_OF_RANGE", Some(161002)));
    assert_eq!((error.operator(), error.parameter()), ("SmoothL1Loss", "beta"));
    assert_eq!((error.want(), error.got()), (">= 0", "-1"));
    Ok(())
}

async fn session(client: &Client) -> opserve::Result<()> {
    let session = client.session().await?;
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(vec![5.0f32, 6.0, 7.0]).await?;
    let call = DeviceCall::new("Hardshrink").input("self", &x).attribute("lambd", 5.5);
    let hardshrink = context.executor(call).await?;
    let out = hardshrink.output("out")?;
    stream.run(&hardshrink).await?;
    assert_eq!(stream.download(out).await?.to_vec::<f32>()?, [0.0, 6.0, 7.0]);
    stream.fill(&x, 9.0f32).await?;
    stream.run(&hardshrink).await?;
    assert_eq!(stream.download(out).await?.to_vec::<f32>()?, [9.0, 9.0, 9.0]);
    session.close().await
}

async fn failure_in_a_session(client: &Client) -> opserve::Result<()> {
    let session = client.session().await?;
    let context = session.context();
    let stream = context.stream();
    let x = context.zeros(DType::Float32, [2])?;
    stream.copy(&x, &x).await?;
    let error = stream.synchronize().await.unwrap_err();
    assert_eq!((error.parameter(), error.place().map(|place| place.line())), ("destination", Some(line!() - 2)));
    session.close().await
}

async fn secured(target: &str, ca: Vec<u8>, certificate: Vec<u8>, key: Vec<u8>) -> opserve::Result<Client> {
    Client::builder()
        .target(target)
        .tls(Tls::new().certificates(ca).identity(certificate, key))
        .token("secret")
        .timeout(Duration::from_secs(5))
        .connect()
        .await
}

#[tokio::test]
async fn the_guide() {
    let (client, _server) = connected().await;
    tensors(&client).await.unwrap();
    typed_operators(&client).await.unwrap();
    many_calls(&client).await.unwrap();
    plan(&client).await.unwrap();
    program(&client).await.unwrap();
    errors(&client).await.unwrap();
    session(&client).await.unwrap();
    failure_in_a_session(&client).await.unwrap();
    assert_eq!(secured("localhost:1", vec![], vec![], vec![]).await.unwrap_err().parameter(), "tls");
}

/// It goes where $OPSERVE_TARGET says, so it has a process of its own.
#[test]
fn the_guides_first_gradient() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    if std::env::var_os("OPSERVE_TEST_GUIDE").is_some() {
        return runtime().block_on(first_gradient()).unwrap();
    }
    let (_, server) = runtime().block_on(connected());
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guide::the_guides_first_gradient"])
        .envs([("OPSERVE_TARGET", server.target.as_str()), ("OPSERVE_TEST_GUIDE", "1")])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn the_guide_shows_what_runs() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rust.md")).unwrap();
    let blocks: Vec<_> = page.split("```rust\n").skip(1).filter_map(|behind| behind.split("```").next()).collect();
    assert_eq!(blocks.len(), 10);
    let here = include_str!("guide.rs");
    for block in blocks {
        let functions = block.split_once("async fn").map(|(_, functions)| functions).unwrap();
        assert!(here.contains(functions), "docs/rust.md has what tests/it/guide.rs has not:\n{block}");
    }
}
