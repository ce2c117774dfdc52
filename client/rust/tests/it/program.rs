use std::path::{Path, PathBuf};
use std::process::Command;

use opserve::operators::{Add, Addmm, AvgPool2d, Gelu, LayerNorm, Matmul, MseLoss, ReduceSum, Reduction, Relu};
use opserve::{Call, Client, DType, DeviceCall, ErrorKind, Program, Spec, Tensor, Value};

use crate::{connected, support};

const W: [f32; 6] = [0.1, -0.4, 0.7, 0.2, -0.3, 0.9];
const B: [f32; 2] = [0.05, -0.2];

/// A loss whose value w is used twice, once through a view.
fn perceptron() -> opserve::Result<Program> {
    let mut program = Program::new();
    let w = program.input("w");
    let h = program.step("h", Addmm::new(program.input("b"), program.input("x"), &w))?;
    let a = program.step("a", Gelu::new(h))?;
    let y = program.step("y", Matmul::new(a, w.view([2, 3], [1, 2], 0)?))?;
    let loss = MseLoss::new(y.reshape([-1])?, program.input("t")).reduction(Reduction::Mean);
    let loss = program.step("loss", loss)?;
    program.output("loss", &loss)?;
    program.gradient(&loss, ["w", "b"])?;
    Ok(program)
}

fn call_of(program: &Program, w: &[f32], b: &[f32]) -> Call {
    Call::of(program)
        .input("x", Tensor::new([2, 3], vec![0.5f32, -1.0, 2.0, 1.5, 0.25, -0.5]).unwrap())
        .input("w", Tensor::from_slice([w.len() / 2, 2], w).unwrap())
        .input("b", b.to_vec())
        .input("t", vec![1.0f32, 0.0, -1.0, 0.5, 2.0, 1.0])
}

async fn loss(client: &Client, program: &Program, w: &[f32], b: &[f32]) -> f32 {
    client.execute(call_of(program, w, b)).await.unwrap()["loss"].to_vec::<f32>().unwrap()[0]
}

#[tokio::test]
async fn gradients_are_those_of_finite_differences() {
    let (client, _server) = connected().await;
    let program = perceptron().unwrap();
    let outputs = client.execute(call_of(&program, &W, &B)).await.unwrap();
    for (name, count) in [("grad_w", W.len()), ("grad_b", B.len())] {
        let gradient = outputs[name].to_vec::<f32>().unwrap();
        for (i, got) in gradient.into_iter().enumerate().take(count) {
            let mut sides = [0.0; 2];
            for (side, step) in sides.iter_mut().zip([1e-2, -1e-2]) {
                let (mut w, mut b) = (W, B);
                if name == "grad_w" {
                    w[i] += step
                } else {
                    b[i] += step
                }
                *side = loss(&client, &program, &w, &b).await;
            }
            let want = (sides[0] - sides[1]) / 2e-2;
            assert!((got - want).abs() < 2e-3, "{name}[{i}]: want {want}, got {got}");
        }
    }
}

#[tokio::test]
async fn batches_and_sessions_take_programs_too() {
    let (client, _server) = connected().await;
    let call = call_of(&perceptron().unwrap(), &W, &B);
    let alone = client.execute(call.clone()).await.unwrap();
    let batched = client.execute_batch([call.clone()]).await.unwrap().remove(0).unwrap();
    let session = client.session().await.unwrap();
    let context = session.context();
    let stream = context.stream();
    let mut here = DeviceCall::of(&perceptron().unwrap());
    for (name, value) in [("x", vec![0.5f32, -1.0, 2.0, 1.5, 0.25, -0.5]), ("w", W.to_vec())] {
        let shape = if name == "x" { [2, 3] } else { [3, 2] };
        here = here.input(name, stream.tensor(Tensor::new(shape, value).unwrap()).await.unwrap());
    }
    here = here.input("b", stream.tensor(B.to_vec()).await.unwrap());
    here = here.input("t", stream.tensor(vec![1.0f32, 0.0, -1.0, 0.5, 2.0, 1.0]).await.unwrap());
    let executor = context.executor(here).await.unwrap();
    for _ in 0..2 {
        stream.run(&executor).await.unwrap();
        for name in ["loss", "grad_w", "grad_b"] {
            let want = alone[name].to_vec::<f32>().unwrap();
            let got = stream.download(executor.output(name).unwrap()).await.unwrap();
            assert_eq!(got.to_vec::<f32>().unwrap(), want, "{name}");
            assert_eq!(batched[name].to_vec::<f32>().unwrap(), want, "{name}");
        }
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn an_error_names_the_step_and_its_parameter() {
    let (client, _server) = connected().await;
    let error = client.execute(call_of(&perceptron().unwrap(), &[0.0; 8], &B)).await.unwrap_err();
    let want = "SHAPE_MISMATCH 161002: Addmm: h.mat2: want K = 3 as in mat1's shape [2, 3], got [4, 2]";
    assert_eq!(error.to_string(), want);
    assert_eq!((error.operator(), error.parameter()), ("Addmm", "h.mat2"));
}

#[test]
fn mistakes_are_told_where_they_are_made() {
    let mut program = Program::new();
    let x = program.input("x");
    let row = x.view([2], [1], 1).unwrap();
    let layered = Call::of(&program).input("x", &x);
    let said = [
        row.reshape([1, 2]).unwrap_err(),
        row.view([1], [1], 0).unwrap_err(),
        x.view([2], [1, 1], 0).unwrap_err(),
        Value::from(1.0f32).view([2], [0], 0).unwrap_err(),
        x.reshape([-1]).unwrap().output("mean").unwrap_err(),
        program.gradient(&x.reshape([]).unwrap(), ["x"]).unwrap_err(),
        program.output("out", &vec![1.0f32, 2.0].into()).unwrap_err(),
        program.step("s", layered).unwrap_err(),
        program.step("s", Call::new("Relu").input("self", &x).output_dtype("out", DType::Float16)).unwrap_err(),
    ];
    let wanted = [
        "reshape: want a value whose elements lie in their order, got x[2].strides(1).offset(1)",
        "view: want a value whose elements lie in their order, got x[2].strides(1).offset(1)",
        "strides: want 1 strides, got 2",
        "view: want a value of the program, got f32[]{1}",
        "output: want an input or a result of a step, got x[-1]",
        "gradient.of: want an input or a result of a step, got x[]",
        "outputs: want an input or a result of a step, got f32[2]{1,2}",
        "s: want an operator with inputs and attributes, got a program",
        "s: want an operator with inputs and attributes, got an output's dtype",
    ];
    for (error, want) in said.iter().zip(wanted) {
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidArgument, want));
    }
    assert_eq!(program.to_string(), "return \n");
}

#[tokio::test]
async fn outputs_of_steps_and_seeds() {
    let (client, _server) = connected().await;
    let mut program = Program::new();
    let norm = program.step("norm", LayerNorm::new(program.input("x"), [2])).unwrap();
    program.output("mean", &norm.output("mean").unwrap()).unwrap();
    program.gradient_from(&norm, "seed", ["x"]).unwrap();
    let x = Tensor::new([2, 2], vec![1.0f32, 3.0, 2.0, 6.0]).unwrap();
    let call = Call::of(&program).input("x", x).input("seed", Tensor::full([2, 2], 1.0f32).unwrap());
    let outputs = client.execute(call).await.unwrap();
    assert_eq!(outputs["mean"].to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert!(outputs["grad_x"].to_vec::<f32>().unwrap().iter().all(|gradient| gradient.abs() < 1e-5));
}

#[tokio::test]
async fn a_program_larger_than_a_message_goes_in_pieces() {
    let server = support::Server::start(&["--max-message-bytes", "1048576"]);
    let client = Client::connect(server.target.as_str()).await.unwrap();
    let mut program = Program::new();
    let relu = program.step("relu", Relu::new(program.input("x"))).unwrap();
    let sum = program.step("sum", Add::new(&relu, &relu)).unwrap();
    program.output("sum", &sum).unwrap();
    let mut x = vec![0.0f32; 1 << 19];
    *x.last_mut().unwrap() = 2.0;
    let sum = client.execute(Call::of(&program).input("x", x)).await.unwrap()["sum"].to_vec::<f32>().unwrap();
    assert_eq!((sum.len(), sum.last()), (1 << 19, Some(&4.0)));
}

/// What `opserve program show` prints of a program.
fn shown(target: &str, program: &str, more: &[&str]) -> String {
    let folder = support::new_folder();
    std::fs::write(folder.join("a.program"), program).unwrap();
    let command = PathBuf::from(std::env::var("OPSERVE_BIN_DIR").unwrap()).join("opserve");
    let ended = Command::new(command)
        .args(["program", "show", folder.join("a.program").to_str().unwrap(), "--target", target])
        .args(more)
        .output()
        .unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(ended.status.success(), "{}{program}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

#[tokio::test]
async fn a_plan_is_the_text_that_the_command_shows() {
    let (client, server) = connected().await;
    let program = perceptron().unwrap();
    let plan = client.plan(call_of(&program, &W, &B).to_specs()).await.unwrap();
    let planned = plan.program.unwrap();
    assert!(plan.workspace_bytes > 0 && planned.intermediate_bytes > 0);
    let specs = ["-i", "x=f32[2,3]", "-i", "w=f32[3,2]", "-i", "b=f32[2]", "-i", "t=f32[6]"];
    let want = shown(&server.target, &program.to_string(), &specs);
    assert_eq!(planned.to_string(), want);
    assert!(want.contains("return loss=loss.out, grad_w="), "{want}");
    let plan = client.plan(Call::new("Relu").input("self", Spec::new(DType::Float32, [2]))).await.unwrap();
    assert!(plan.program.is_none());
}

/// A step for each way that a text has numbers, views and attributes.
fn literals() -> opserve::Result<Program> {
    let mut program = Program::new();
    let x = program.input("x");
    let floats = vec![1e5f32, 123_456_792.0, 0.0, -0.0, f32::NEG_INFINITY, 1e-7, 3.4e38, 0.5, f32::MAX];
    let doubles = [0.1, 123_456_789_012_345_680.0, 1e22, 1e-5, 0.001, 1e100, 5e-324, f64::NAN, f64::INFINITY];
    let mut others: Vec<Value> = vec![floats.into(), doubles.to_vec().into(), std::f64::consts::PI.into()];
    #[cfg(feature = "half")]
    {
        others.push([0.1, 6e-8, 65504.0, 1.2345, f32::INFINITY].map(half::f16::from_f32).to_vec().into());
        others.push([0.1, 9e-41, 1e38, 12345.0, 100.0].map(half::bf16::from_f32).to_vec().into());
    }
    others.extend([u64::MAX.into(), i8::MIN.into(), vec![true, false].into(), Value::from(vec![0.0f32; 0])]);
    others.push(Tensor::new([2, 1], vec![i64::MIN, 7])?.into());
    others.push(Tensor::strided([2, 2], [1, 2], 0, vec![1.0f32, 2.0, 3.0, 4.0])?.into());
    others.extend([x.reshape([-1])?, x.reshape([])?, x.view([3, 2], [1, 3], 1)?, x.view([], [], 5)?, x.clone()]);
    let powers: Vec<f64> =
        (-1074..1024).map(|exponent| 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)).collect();
    others.push(powers.iter().map(|power| *power as f32).collect::<Vec<_>>().into());
    others.push(powers.into());
    let mut bits = 1u64;
    let mut random = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        bits
    };
    others.push((0..1000).map(|_| f32::from_bits(random() as u32)).collect::<Vec<_>>().into());
    others.push((0..1000).map(|_| f64::from_bits(random())).collect::<Vec<_>>().into());
    for dtype in [DType::Float16, DType::BFloat16] {
        let bytes: Vec<u8> = (0..500).flat_map(|_| random().to_le_bytes()).collect();
        others.push(Tensor::from_bytes(dtype, [2000], bytes[..4000].to_vec())?.into());
    }
    for (i, other) in others.into_iter().enumerate() {
        program.step(format!("s{i}"), Add::new(&x, other).alpha(0.1))?;
    }
    program.step("pool", AvgPool2d::new(&x, [2, 2], [], [0, 1]).ceil_mode(true))?;
    program.output("out", &x)?;
    let sum = program.step("sum", ReduceSum::new(x, [0]))?;
    program.output("sum", &sum)?;
    Ok(program)
}

#[tokio::test]
async fn a_program_is_the_text_that_the_command_reads() {
    let (_client, server) = connected().await;
    let text = literals().unwrap().to_string();
    assert_eq!(text, shown(&server.target, &text, &[]));
    let mut program = Program::new();
    let y = program.step("y", Relu::new(program.input("x"))).unwrap();
    program.gradient_from(&y.output("out").unwrap(), "dy", ["x", "w"]).unwrap();
    program.max_workspace(4096).unwrap();
    assert_eq!(program.to_string(), "y = Relu(self=x)\ngradient y.out: x, w seed dy within 4096\nreturn \n");
}

/// The lines that docs/programs.md has for Rust.
async fn page(client: &Client, x: Tensor, w: Tensor, b: Tensor, classes: Tensor) -> opserve::Result<()> {
    use opserve::operators::CrossEntropyLoss;

    let mut program = Program::new();
    let h = program.step("h", Addmm::new(program.input("b"), program.input("x"), program.input("w")))?;
    let loss = program.step("loss", CrossEntropyLoss::new(h, program.input("classes")))?;
    program.output("loss", &loss)?;
    program.gradient(&loss, ["w", "b"])?;
    let call = Call::of(&program).input("x", x).input("w", w).input("b", b).input("classes", classes);
    let outputs = client.execute(call).await?; // loss, grad_w, grad_b

    assert_eq!(outputs["loss"].to_vec::<f32>()?, [std::f32::consts::LN_2]);
    assert_eq!(outputs["grad_w"].to_vec::<f32>()?, [0.75, -0.75, 0.75, -0.75, 0.75, -0.75]);
    Ok(())
}

#[tokio::test]
async fn the_page_shows_what_runs() {
    let (client, _server) = connected().await;
    let x = Tensor::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let w = Tensor::full([3, 2], 0.0f32).unwrap();
    page(&client, x, w, vec![0.0f32; 2].into(), vec![0i64, 1].into()).await.unwrap();
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/programs.md")).unwrap();
    let block = text.split("```rust\n").nth(1).and_then(|behind| behind.split("```").next()).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(include_str!("program.rs")).contains(&words(block)), "{block}");
}
