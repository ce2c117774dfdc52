//! Phase one's answer.

use std::fmt;
use std::time::Duration;

use crate::error::Result;
use crate::program_text;
use crate::proto;
use crate::tensor::Spec;
use crate::wire;

/// What a call needs and gives, as [`Client::plan`](crate::Client::plan) tells without running it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Scratch memory that an execution needs.
    pub workspace_bytes: u64,
    /// The outputs in the order of the operator's schema. One that the call masks out has the shape `[0]`.
    pub outputs: Vec<(String, Spec)>,
    /// Bytes of all inputs.
    pub input_bytes: u64,
    /// Bytes of all outputs.
    pub output_bytes: u64,
    /// The device that the plan is for.
    pub device: String,
    /// The time that the server expects an execution to take on one thread.
    pub expected: Duration,
    /// Whether the call runs without waiting in a queue.
    pub runs_inline: bool,
    /// Of a [`Program`](crate::Program): how it runs.
    pub program: Option<ProgramPlan>,
}

/// A program as it runs: with the steps that compute gradients, without those on which no output depends. Its text is what `opserve program
/// show` prints: a program that can be saved, changed and run.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// What the results that are no outputs would take if each had memory of its own.
    pub intermediate_bytes: u64,
    /// The message that has the program.
    pub call: proto::Call,
}

impl fmt::Display for ProgramPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.program.iter().try_for_each(|program| formatter.write_str(&program_text::of(program)))
    }
}

impl Plan {
    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&Spec> {
        self.outputs.iter().find(|(other, _)| other == name).map(|(_, spec)| spec)
    }

    pub(crate) fn of_answer(answer: proto::GetWorkspaceSizeResponse) -> Result<Self> {
        let outputs = answer.outputs.into_iter().map(wire::spec_of).collect::<Result<_>>()?;
        let cost = answer.cost.unwrap_or_default();
        Ok(Self {
            outputs,
            workspace_bytes: wire::size_of("workspace_bytes", answer.workspace_bytes)?,
            input_bytes: wire::size_of("input_bytes", answer.input_bytes)?,
            output_bytes: wire::size_of("output_bytes", answer.output_bytes)?,
            device: answer.device,
            expected: Duration::from_nanos(wire::size_of("expected_ns", cost.expected_ns)?),
            runs_inline: cost.runs_inline,
            program: answer.program.map(program_of).transpose()?,
        })
    }
}

fn program_of(message: proto::ProgramPlan) -> Result<ProgramPlan> {
    let intermediate_bytes = wire::size_of("intermediate_bytes", message.intermediate_bytes)?;
    Ok(ProgramPlan { intermediate_bytes, call: message.call.unwrap_or_default() })
}
