// The client of opserve for browsers: docs/web.md is its guide. ../node/src/values is what it shares with the client for Node.

export type { AttributeValue } from '../../node/src/values/attribute_value.js';
export type { ArrayOf, DType, TypedArray } from '../../node/src/values/dtypes.js';
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
} from '../../node/src/values/errors.js';
export type { Code } from '../../node/src/values/errors.js';
export type { Operators } from '../../node/src/generated/catalogue.js';
export { fromBfloat16, fromFloat16, toBfloat16, toFloat16 } from '../../node/src/values/halves.js';
export type { AnyOperatorName, AttributesOf, InputsOf, OperatorName, OutputsOf } from '../../node/src/values/names.js';
export type { CallOptions } from '../../node/src/values/retries.js';
export { Tensor, tensor } from '../../node/src/values/tensor.js';
export type { Input, Nested, Scalar, View } from '../../node/src/values/tensor.js';
export { Client, connect } from './client.js';
export type { OperatorState, Operator, Parameter, ServerInfo } from './discovery.js';
export type { ConnectOptions, Fetch } from './http.js';
export type { ExecuteOptions } from './infer.js';
