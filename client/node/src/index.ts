// The client of opserve: docs/typescript.md is its guide.

export type { AttributeValue } from './values/attribute_value.js';
export { call } from './calls.js';
export type { BatchResults, Call, ExecuteOptions, Execution, Plan } from './calls.js';
export type { CallOptions } from './values/retries.js';
export { Client, connect } from './client.js';
export type { ExecuteCallOptions } from './client.js';
export { DeviceTensor, Event, Executor, Stream } from './device.js';
export type { OnStream } from './device.js';
export type { AttributeInfo, Device, Operator, Parameter, ServerInfo, Statistics } from './discovery.js';
export type { ArrayOf, DType, TypedArray } from './values/dtypes.js';
export {
  CancelledError,
  DeadlineError,
  InternalError,
  InvalidArgumentError,
  NotFoundError,
  OpserveError,
  ResourceError,
  UnavailableError,
  UnsupportedError,
} from './values/errors.js';
export type { Code } from './values/errors.js';
export type { Operators } from './generated/catalogue.js';
export { fromBfloat16, fromFloat16, toBfloat16, toFloat16 } from './values/halves.js';
export type { AnyOperatorName, AttributesOf, InputsOf, OperatorName, OutputsOf } from './values/names.js';
export { Program, ProgramPlan, Value } from './program.js';
export type { Callee, GradientOptions, StepAttributes } from './program.js';
export { Session } from './session.js';
export type { DeviceExecuteOptions, DeviceInput, Progress, SessionOptions } from './session.js';
export type { ConnectOptions, TlsOptions } from './target.js';
export { Tensor, tensor } from './values/tensor.js';
export type { Input, Nested, Scalar, Spec, View } from './values/tensor.js';
