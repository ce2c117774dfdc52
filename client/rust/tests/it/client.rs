use std::time::{Duration, Instant};

use opserve::operators::{BatchNorm, GroupNorm, Hardshrink, Operator, Reduction, SmoothL1Loss};
use opserve::{Call, Client, Code, DType, ErrorKind, Spec, Tensor};

use crate::{connected, support};

fn gradient() -> Call {
    let x = Tensor::new([4, 2], (0..8u8).map(f32::from).collect()).unwrap();
    Call::new("SmoothL1LossBackward")
        .input("grad_out", 1.0f32)
        .input("self", x)
        .input("target", Tensor::full([4, 2], 1.0f32).unwrap())
        .attribute("reduction", "none")
        .attribute("beta", 1.0)
}

const GRADIENT: [f32; 8] = [-1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[tokio::test]
async fn a_gradient() {
    let (client, _server) = connected().await;
    let outputs = client.execute(gradient().report_execution()).await.unwrap();
    assert_eq!(outputs["grad_input"].shape(), [4, 2]);
    assert_eq!(outputs["grad_input"].to_vec::<f32>().unwrap(), GRADIENT);
    assert_eq!(outputs.names().collect::<Vec<_>>(), ["grad_input"]);
    assert_eq!(outputs.execution().unwrap().device, "cpu:0");
    assert_eq!(outputs.get("grad").unwrap_err().to_string(), "output: want one of grad_input, got \"grad\"");
}

#[tokio::test]
async fn a_future_is_one_that_other_threads_may_run() {
    let (client, _server) = connected().await;
    let calls: Vec<_> = (0..16)
        .map(|_| {
            tokio::spawn({
                let client = client.clone();
                async move { client.execute(gradient()).await }
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap()["grad_input"].to_vec::<f32>().unwrap(), GRADIENT);
    }
}

#[tokio::test]
async fn views_and_other_dtypes() {
    let (client, _server) = connected().await;
    let transposed = Tensor::strided([3, 2], [1, 3], 0, vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let call = Call::new("Relu").input("self", transposed).output_dtype("out", DType::Float16);
    let out = client.execute(call).await.unwrap().take("out").unwrap();
    assert_eq!((out.dtype(), out.shape()), (DType::Float16, &[3, 2][..]));
    #[cfg(feature = "half")]
    {
        let numbers: Vec<f32> = out.elements::<half::f16>().unwrap().iter().map(|number| number.to_f32()).collect();
        assert_eq!(numbers, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        let brain: Vec<_> = [-1.5, 2.5].map(half::bf16::from_f32).into();
        let out = client.execute(Call::new("Relu").input("self", brain)).await.unwrap();
        assert_eq!(out["out"].to_vec::<half::bf16>().unwrap(), [0.0, 2.5].map(half::bf16::from_f32));
    }
}

#[tokio::test]
async fn an_error_says_what_was_wrong() {
    let (client, _server) = connected().await;
    let error = client.execute(gradient().attribute("lambd", 1)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.reason(), error.parameter()),
        (ErrorKind::InvalidArgument, "UNKNOWN_PARAMETER", "lambd")
    );
    let x = Tensor::from(vec![1.0f32]);
    let error = client.apply(SmoothL1Loss::new(&x, &x).beta(-1.0)).await.unwrap_err();
    assert_eq!(error.to_string(), "OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1");
    assert_eq!(
        (error.code(), error.aclnn_code(), error.operator()),
        (Code::InvalidArgument, Some(161002), "SmoothL1Loss")
    );
    assert_eq!((error.want(), error.got(), error.retry_after()), (">= 0", "-1", None));
    let error = client.execute(Call::new("Nothing")).await.unwrap_err();
    assert_eq!((error.kind(), error.reason()), (ErrorKind::NotFound, "OPERATOR_NOT_FOUND"));
}

#[tokio::test]
async fn a_batch_has_a_result_for_each_call() {
    let (client, _server) = connected().await;
    let results = client.execute_batch([gradient(), Call::new("Nothing"), gradient()]).await.unwrap();
    let [first, second, third] = &results[..] else { panic!("{results:?}") };
    for good in [first, third] {
        assert_eq!(good.as_ref().unwrap()["grad_input"].to_vec::<f32>().unwrap(), GRADIENT);
    }
    assert_eq!(second.as_ref().unwrap_err().reason(), "OPERATOR_NOT_FOUND");
    assert!(client.execute_batch([]).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_plan_needs_no_elements() {
    let (client, _server) = connected().await;
    let spec = Spec::new(DType::Float32, [64, 1000]);
    let call =
        Call::new("L1Loss").input("self", spec.clone()).input("target", spec.clone()).attribute("reduction", "none");
    let plan = client.plan(call).await.unwrap();
    assert_eq!(plan.output("out"), Some(&spec));
    assert_eq!((plan.input_bytes, plan.output_bytes, plan.device.as_str()), (512_000, 256_000, "cpu:0"));
    assert_eq!(client.plan(gradient().to_specs()).await.unwrap().output_bytes, 32);
}

#[tokio::test]
async fn a_server_tells_what_it_has() {
    let (client, _server) = connected().await;
    assert!(client.info().await.unwrap().max_message_bytes > 1 << 20);
    assert_eq!(client.operators().await.unwrap().len(), 114);
    let schema = client.operator("Hardshrink").await.unwrap();
    assert_eq!((schema.name.as_str(), schema.inputs[0].name.as_str()), ("Hardshrink", "self"));
    assert_eq!(client.operator("Nothing").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(client.devices().await.unwrap()[0].name, "cpu:0");
    assert!(client.statistics().await.unwrap().uptime_ns > 0);
}

#[tokio::test]
async fn typed_operators() {
    let (client, _server) = connected().await;
    let loss = SmoothL1Loss::new(vec![1.0f32, 2.0], vec![1.5f32, 4.0]).reduction(Reduction::Sum);
    assert_eq!(client.apply(loss).await.unwrap().to_vec::<f32>().unwrap(), [1.625]);
    let shrunk = client.apply(Hardshrink::new(vec![1.0f32, -0.25], 0.5)).await.unwrap();
    assert_eq!(shrunk.to_vec::<f32>().unwrap(), [1.0, 0.0]);
    let x = Tensor::new([2, 2, 2], (0..8u8).map(f32::from).collect()).unwrap();
    let normed = client.apply(GroupNorm::new(x, 2, 2, 2, 1).eps(1e-9)).await.unwrap();
    assert_eq!(normed.mean.to_vec::<f32>().unwrap(), [1.5, 5.5]);
    assert_eq!(normed.out.shape(), [2, 2, 2]);
    let call: Call = BatchNorm::new(Tensor::full([2, 3], 1.0f32).unwrap(), true).momentum(0.5).into_call();
    assert_eq!(call.op(), "BatchNorm");
}

#[tokio::test]
async fn a_call_beyond_a_message_goes_in_pieces() {
    let server = support::Server::start(&["--max-message-bytes", "1MiB"]);
    let client = Client::connect(server.target.as_str()).await.unwrap();
    let count = 1 << 20;
    let x: Vec<f32> = (0..count).map(|index| index as f32 - 1000.0).collect();
    let want: Vec<f32> = x.iter().map(|number| number.max(0.0)).collect();
    let large = client.execute(Call::new("Relu").input("self", x)).await.unwrap();
    assert_eq!(large["out"].elements::<f32>().unwrap(), want);
    // The inputs fit a message, the output does not.
    let ones = Tensor::full([1024, 1024], 1.0f32).unwrap();
    let large = client.execute(Call::new("Relu").input("self", ones)).await.unwrap();
    assert_eq!(large["out"].elements::<f32>().unwrap(), vec![1.0; count]);
}

#[tokio::test]
async fn a_deadline_that_passes_is_told() {
    let (client, _server) = connected().await;
    let began = Instant::now();
    let error = client.execute(gradient().timeout(Duration::from_nanos(1))).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Timeout, Code::DeadlineExceeded));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let (client, _server) = connected().await;
    let x = Tensor::full([2048, 2048], 1.0f32).unwrap();
    let call = Call::new("Matmul").input("self", &x).input("mat2", &x).attribute("cube_math_type", 0);
    assert!(tokio::time::timeout(Duration::from_millis(1), client.execute(call)).await.is_err());
    assert!(client.execute(gradient()).await.is_ok());
}

#[tokio::test]
async fn a_lazy_client_asks_for_nothing_first() {
    let client = Client::builder().target("localhost:1").timeout(Duration::from_secs(20)).connect_lazy().unwrap();
    let error = client.execute(gradient()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let (_, server) = connected().await;
    let client = Client::builder().target(format!("dns:///{}", server.target)).connect_lazy().unwrap();
    assert!(client.execute(gradient()).await.is_ok());
}

#[tokio::test]
async fn a_unix_socket() {
    let folder = support::new_folder();
    let address = format!("unix:{}", folder.join("socket").display());
    let server = support::Server::listen(&address, &[]);
    assert_eq!(server.target, address);
    let client = Client::connect(address).await.unwrap();
    assert!(client.execute(gradient()).await.is_ok());
    drop(server);
    std::fs::remove_dir_all(folder).unwrap();
}
