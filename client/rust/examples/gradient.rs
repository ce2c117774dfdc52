//! The gradient of SmoothL1Loss on a server: `cargo run --example gradient -- localhost:8500`.

use opserve::operators::{Reduction, SmoothL1LossBackward};
use opserve::{Client, Tensor};

#[tokio::main]
async fn main() -> opserve::Result<()> {
    let client = match std::env::args().nth(1) {
        Some(target) => Client::connect(target).await?,
        None => Client::builder().connect().await?,
    };
    let ones = Tensor::full([4, 2], 1.0f32)?;
    let x = Tensor::new([4, 2], (0..8u8).map(f32::from).collect())?;
    let operator = SmoothL1LossBackward::new(&ones, x, &ones).reduction(Reduction::None).beta(1.0);
    let gradient = client.apply(operator).await?;
    print!("grad_input");
    for number in gradient.to_vec::<f32>()? {
        print!(" {number}");
    }
    println!();
    Ok(())
}
