// Programs: several operators in one call, and the gradients of a value. docs/programs.md has what servers make of them.

import { create } from '@bufbuild/protobuf';

import { attributesOf } from './attributes.js';
import { dataTypeOf } from './data_types.js';
import {
  GradientRequestSchema,
  ProgramOutputSchema,
  ProgramSchema,
  StepSchema,
  TensorSchema,
  TensorValuesSchema,
} from './generated/opserve/v1/types_pb.js';
import type {
  Program as ProgramMessage,
  Tensor as TensorMessage,
  TensorValues,
} from './generated/opserve/v1/types_pb.js';
import { programText, valueText } from './program_text.js';
import { isFloating } from './values/dtypes.js';
import type { AnyOperatorName, AttributesOf, InputsOf } from './values/names.js';
import { dense, named, Tensor, tensor } from './values/tensor.js';
import type { Input, Scalar } from './values/tensor.js';

/** What a call is of: an operator, by its name, or a program. */
export type Callee = AnyOperatorName | Program;

/** The attributes of a step, which may be left out where all of them have a default. */
export type StepAttributes<Name extends AnyOperatorName> =
  Record<never, never> extends AttributesOf<Name>
    ? [attributes?: AttributesOf<Name>]
    : [attributes: AttributesOf<Name>];

/** What a program computes with, without its elements: an input, a result of a step, or a view of either. */
export class Value {
  readonly #program: Program;
  readonly #message: TensorMessage;

  /** @internal */
  constructor(program: Program, message: TensorMessage) {
    this.#program = program;
    this.#message = message;
  }

  /** Another output of the step whose first output this is. */
  output(name: string): Value {
    if (this.isView) throw new TypeError(`output: want a step for the output ${name}, got the view ${this}`);
    return new Value(this.#program, valueMessage(`${nameOf(this.#message)}.${name}`));
  }

  /** The elements in another shape, in their order. One extent may be -1; an empty shape is a scalar's. */
  reshape(shape: readonly number[]): Value {
    return new Value(this.#program, this.#shaped('reshape', shape));
  }

  /** A view of the elements, without a copy: a transposed matrix, a repeated row, a slice. Strides and offset are in elements. */
  view(shape: readonly number[], strides: readonly number[], offset = 0): Value {
    if (strides.length !== shape.length) throw new RangeError(`strides: want ${shape.length}, got ${strides.length}`);
    const message = this.#shaped('view', shape);
    message.strides = named('strides', () => strides.map(BigInt));
    message.storageOffset = named('offset', () => BigInt(offset));
    return new Value(this.#program, message);
  }

  #shaped(parameter: string, shape: readonly number[]): TensorMessage {
    if (this.#message.strides.length > 0 || this.#message.storageOffset > 0n) {
      throw new TypeError(`${parameter}: want a value whose elements lie in their order, got the view ${this}`);
    }
    const message = valueMessage(nameOf(this.#message));
    message.shape = named('shape', () => shape.map(BigInt));
    message.scalar = shape.length === 0;
    return message;
  }

  /** @internal */
  get program(): Program {
    return this.#program;
  }

  /** @internal */
  get message(): TensorMessage {
    return this.#message;
  }

  /** @internal */
  get isView(): boolean {
    return this.#message.shape.length > 0 || this.#message.scalar;
  }

  toString(): string {
    return valueText(this.#message);
  }
}

/** What a gradient may be asked for with. */
export interface GradientOptions {
  /** The input that is the gradient which comes in for the value. */
  seed?: string;
  /** The most workspace that the program may take. */
  maxWorkspaceBytes?: number | bigint;
}

/**
 * Several operators in one call, each of inputs of the call or results of earlier steps; and the gradients of one of its values. It goes
 * where the name of an operator goes: `client.execute(program, { x, w })`. Its text is that of `opserve program`.
 */
export class Program {
  readonly #message = create(ProgramSchema);

  /** An input of the call. */
  input(name: string): Value {
    return new Value(this, valueMessage(name));
  }

  /**
   * Adds a step: an operator of values of this program, and of tensors, arrays and numbers, which become constants that the program holds.
   * Gives its first output. The name is the step's own among steps and inputs, without a dot; errors have it.
   */
  step<Name extends AnyOperatorName>(
    name: string,
    op: Name,
    inputs: InputsOf<Name, Value | Input>,
    ...rest: StepAttributes<Name>
  ): Value {
    const given = Object.entries(inputs as Readonly<Record<string, Value | Input | undefined>>);
    const messages = given.flatMap(([input, value]) =>
      value === undefined ? [] : [{ ...this.#input(`${name}.${input}`, value), name: input }],
    );
    const attributes = named(name, () => attributesOf(rest[0] ?? {}));
    this.#message.steps.push(create(StepSchema, { name, op, inputs: messages, attributes }));
    return this.input(name);
  }

  /** Has the call give a value, an input or a result of a step, by this name. */
  output(name: string, value: Value): this {
    this.#message.outputs.push(create(ProgramOutputSchema, { name, value: this.#whole('outputs', value) }));
    return this;
  }

  /**
   * Asks for the gradients of a value with respect to inputs; that of "w" is the output "grad_w". The value has one element, or `seed` is the
   * input that is the gradient which comes in for it, of its shape. `maxWorkspaceBytes` bounds the program's workspace: the server computes
   * results again where keeping them takes more; 0 is no bound.
   */
  gradient(
    of: Value,
    withRespectTo: readonly string[],
    { seed = '', maxWorkspaceBytes = 0 }: GradientOptions = {},
  ): this {
    const bound = named('maxWorkspaceBytes', () => BigInt(maxWorkspaceBytes));
    const asked = {
      of: this.#whole('gradient.of', of),
      withRespectTo: [...withRespectTo],
      seed,
      maxWorkspaceBytes: bound,
    };
    this.#message.gradient = create(GradientRequestSchema, asked);
    return this;
  }

  #input(parameter: string, value: Value | Input): TensorMessage {
    if (value instanceof Value) return this.#own(parameter, value).message;
    return named(parameter, () => constantMessage(value instanceof Tensor ? value : tensor(value as Scalar)));
  }

  #own(parameter: string, value: Value): Value {
    if (value.program !== this) {
      throw new TypeError(`${parameter}: want a value of this program, got ${value} of another`);
    }
    return value;
  }

  #whole(parameter: string, value: Value): string {
    if (this.#own(parameter, value).isView) {
      throw new TypeError(`${parameter}: want an input or a result of a step, got the view ${value}`);
    }
    return nameOf(value.message);
  }

  /** @internal */
  get message(): ProgramMessage {
    return this.#message;
  }

  /** A step a line, the gradient that it asks for, its outputs. */
  toString(): string {
    return programText(this.#message);
  }
}

/** A program as it runs: with the steps that compute gradients, without those on which no output depends. */
export class ProgramPlan {
  readonly #message: ProgramMessage;

  /** @internal */
  constructor(
    message: ProgramMessage | undefined,
    /** What the results that are no outputs would take if each had memory of its own. */
    readonly intermediateBytes: number,
  ) {
    this.#message = message ?? create(ProgramSchema);
  }

  /** What `opserve program show` prints: a program that can be saved, changed and run. */
  toString(): string {
    return programText(this.#message);
  }
}

/** What a Call has of an operator or a program. */
export function calleeOf(callee: Callee): { op: string } | { program: ProgramMessage } {
  return callee instanceof Program ? { program: callee.message } : { op: callee };
}

function valueMessage(name: string): TensorMessage {
  return create(TensorSchema, { data: { case: 'value', value: name } });
}

function nameOf({ data }: TensorMessage): string {
  return data.case === 'value' ? data.value : '';
}

function constantMessage(given: Tensor): TensorMessage {
  const { dtype, shape } = given;
  const data = { case: 'values', value: valuesOf(dense(given)) } as const;
  return create(TensorSchema, { dtype: dataTypeOf(dtype), shape: shape.map(BigInt), data });
}

function valuesOf(given: Tensor): TensorValues {
  const { dtype, data } = given;
  if (dtype === 'float64') return create(TensorValuesSchema, { floats: Array.from(given.as('float64')) });
  if (isFloating(dtype)) return create(TensorValuesSchema, { floats: Array.from(given.toFloat32()) });
  if (dtype === 'uint64') return create(TensorValuesSchema, { uints: Array.from(given.as('uint64')) });
  const elements: Scalar[] = Array.from<Scalar>(data);
  if (dtype === 'bool') return create(TensorValuesSchema, { bools: elements.map(Boolean) });
  return create(TensorValuesSchema, { ints: elements.map(BigInt) });
}
