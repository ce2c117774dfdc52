//! Writes `src/proto` of the opserve crate, and the descriptors that its tests read, from the .proto files. Wants protoc.
//!
//! Usage: `cargo run --manifest-path client/rust/xtask/Cargo.toml`

use std::error::Error;
use std::path::Path;

const FILES: [&str; 4] = [
    "google/rpc/error_details.proto",
    "google/rpc/status.proto",
    "opserve/v1/operator_service.proto",
    "opserve/v1/session.proto",
];

/// The bulk fields: their entries look into the message that came, and are not copied.
const BYTES: [&str; 6] = [
    ".opserve.v1.ExecuteRequest.raw",
    ".opserve.v1.ExecuteResponse.raw",
    ".opserve.v1.ExecuteBatchRequest.raw",
    ".opserve.v1.ExecuteBatchResponse.raw",
    ".opserve.v1.SessionRequest.raw",
    ".opserve.v1.SessionResponse.raw",
];

fn main() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no folder above")?;
    let proto = package.join("../../proto");
    prost_build::Config::new()
        .bytes(BYTES)
        .compile_well_known_types()
        .disable_comments(["."])
        .out_dir(package.join("src/proto"))
        .file_descriptor_set_path(package.join("tests/descriptors.binpb"))
        .compile_protos(&FILES.map(|file| proto.join(file)), &[proto])?;
    Ok(())
}
