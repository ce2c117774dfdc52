//! The messages of `opserve.v1`, as the .proto files describe them, and those of google.rpc that errors are made of. Written by
//! `xtask`, but for this file.

pub use opserve::v1::*;

/// The package of the protocol.
pub mod opserve {
    /// `opserve.v1`.
    pub mod v1 {
        include!("opserve.v1.rs");
    }
}

/// What errors are made of.
pub mod google {
    /// `google.rpc`.
    pub mod rpc {
        include!("google.rpc.rs");
    }
    /// `google.protobuf`.
    pub mod protobuf {
        include!("google.protobuf.rs");
    }
}
