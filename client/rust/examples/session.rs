//! GroupNorm and its gradient in a session, with mean and rstd left on the device: `cargo run --example session -- localhost:8500`.

use opserve::operators::{GroupNorm, GroupNormBackward};
use opserve::{Client, DeviceTensor, Stream, Tensor};

async fn show(stream: &Stream, name: &str, tensor: &DeviceTensor) -> opserve::Result<()> {
    print!("{name}");
    for number in stream.download(tensor).await?.to_vec::<f32>()? {
        print!(" {number:.3}");
    }
    println!();
    Ok(())
}

#[tokio::main]
async fn main() -> opserve::Result<()> {
    let client = match std::env::args().nth(1) {
        Some(target) => Client::connect(target).await?,
        None => Client::builder().connect().await?,
    };
    let session = client.session().await?;
    let context = session.context();
    let stream = context.stream();
    let x = stream.tensor(Tensor::new([1, 2, 4], (0..8u8).map(f32::from).collect())?).await?;
    let normed = stream.apply(GroupNorm::new(&x, 1, 2, 4, 2)).await?;
    let grad_out = stream.tensor(Tensor::new([1, 2, 4], vec![1.0f32, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0])?).await?;
    let backward = GroupNormBackward::new(&grad_out, &x, &normed.mean, &normed.rstd, 1, 2, 4, 2);
    let gradients = stream.apply(backward).await?;
    show(&stream, "out", &normed.out).await?;
    show(&stream, "grad_input", &gradients.grad_input).await?;
    show(&stream, "grad_gamma", &gradients.grad_gamma).await?;
    show(&stream, "grad_beta", &gradients.grad_beta).await?;
    session.close().await
}
