//! Teaches a convolutional classifier, one message a step: the loss and its gradients come back, and the weights are stepped here.
//! `cargo run --example training -- localhost:8500`.

use std::f64::consts::PI;

use opserve::operators::{Addmm, AvgPool2d, Convolution, CrossEntropyLoss, GroupNorm, Relu};
use opserve::{Call, Client, Program, Tensor};

const BATCH: usize = 32;
const SIZE: usize = 12;
const CHANNELS: usize = 8;
const CLASSES: usize = 4;
const FEATURES: usize = CHANNELS * SIZE / 2 * SIZE / 2;
const STEPS: usize = 40;
const RATE: f32 = 0.1;

/// Marsaglia's generator of 32 bits, whose numbers the examples of all languages draw.
struct Random(u32);

impl Random {
    /// From 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        f64::from(self.0) / 4_294_967_296.0
    }

    /// Nearly normal: the sum of twelve numbers whose variances are a twelfth.
    fn normal(&mut self) -> f64 {
        (0..12).fold(-6.0, |sum, _| sum + self.uniform())
    }

    fn weights(&mut self, count: usize, scale: f64) -> Vec<f32> {
        (0..count).map(|_| (self.normal() * scale) as f32).collect()
    }
}

/// What is learned: an input of the program.
struct Weights {
    name: &'static str,
    shape: Vec<usize>,
    elements: Vec<f32>,
}

fn first_weights(random: &mut Random) -> Vec<Weights> {
    let kernel = random.weights(CHANNELS * 9, 1.0 / 3.0);
    let w = random.weights(FEATURES * CLASSES, 1.0 / (FEATURES as f64).sqrt());
    vec![
        Weights { name: "kernel", shape: vec![CHANNELS, 1, 3, 3], elements: kernel },
        Weights { name: "gamma", shape: vec![CHANNELS], elements: vec![1.0; CHANNELS] },
        Weights { name: "beta", shape: vec![CHANNELS], elements: vec![0.0; CHANNELS] },
        Weights { name: "w", shape: vec![FEATURES, CLASSES], elements: w },
        Weights { name: "b", shape: vec![CLASSES], elements: vec![0.0; CLASSES] },
    ]
}

/// The loss of a batch, and its gradients.
fn model(learned: &[Weights]) -> opserve::Result<Program> {
    let mut program = Program::new();
    let conv = Convolution::new(program.input("x"), program.input("kernel"), [1, 1], [1, 1], [1, 1], [0, 0]);
    let conv = program.step("conv", conv)?;
    let norm = GroupNorm::new(conv, BATCH as i64, CHANNELS as i64, (SIZE * SIZE) as i64, 2);
    let norm = program.step("norm", norm.gamma(program.input("gamma")).beta(program.input("beta")))?;
    let relu = program.step("relu", Relu::new(norm))?;
    let pool = program.step("pool", AvgPool2d::new(relu, [2, 2], [2, 2], [0, 0]))?;
    let features = pool.reshape([-1, FEATURES as i64])?;
    let scores = program.step("scores", Addmm::new(program.input("b"), features, program.input("w")))?;
    let loss = program.step("loss", CrossEntropyLoss::new(scores, program.input("classes")))?;
    program.output("loss", &loss)?;
    program.gradient(&loss, learned.iter().map(|weights| weights.name))?;
    Ok(program)
}

/// Noisy pictures with stripes, across, down, and along either diagonal; and which they have.
fn samples(random: &mut Random) -> (Vec<f32>, Vec<i64>) {
    let directions = [(0, 1), (1, 0), (1, 1), (1, SIZE - 1)];
    let (mut x, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..BATCH {
        let class = (random.uniform() * CLASSES as f64) as usize;
        let phase = random.uniform() * 2.0 * PI;
        labels.push(class as i64);
        for i in 0..SIZE * SIZE {
            let along = directions[class].0 * (i / SIZE) + directions[class].1 * (i % SIZE);
            x.push(((along as f64 * PI / 2.0 + phase).sin() + 0.3 * random.normal()) as f32);
        }
    }
    (x, labels)
}

#[tokio::main]
async fn main() -> opserve::Result<()> {
    let client = match std::env::args().nth(1) {
        Some(target) => Client::connect(target).await?,
        None => Client::builder().connect().await?,
    };
    let mut random = Random(1);
    let mut learned = first_weights(&mut random);
    let program = model(&learned)?;
    for step in 0..STEPS {
        let (x, labels) = samples(&mut random);
        let mut call = Call::of(&program).input("x", Tensor::new([BATCH, 1, SIZE, SIZE], x)?).input("classes", labels);
        for weights in &learned {
            call = call.input(weights.name, Tensor::from_slice(weights.shape.as_slice(), &weights.elements)?);
        }
        let outputs = client.execute(call).await?;
        for weights in &mut learned {
            let gradient = outputs.get(&format!("grad_{}", weights.name))?.to_vec::<f32>()?;
            weights.elements.iter_mut().zip(gradient).for_each(|(element, gradient)| *element -= RATE * gradient);
        }
        if step % 10 == 0 || step == STEPS - 1 {
            println!("step {step} loss {:.4}", outputs["loss"].to_vec::<f32>()?[0]);
        }
    }
    Ok(())
}
