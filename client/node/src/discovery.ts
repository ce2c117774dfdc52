// What servers tell of themselves: their limits, operators, devices and counts.

import { create, isMessage, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, Message, MessageInitShape, MessageShape } from '@bufbuild/protobuf';

import { attributeValue } from './attributes.js';
import type { AttributeValue } from './values/attribute_value.js';
import type { Request } from './channel.js';
import { dtypeOf } from './data_types.js';
import type { DType } from './values/dtypes.js';
import {
  AttributeKind,
  DeviceState,
  GetServerInfoRequestSchema,
  GetServerInfoResponseSchema,
  ListDevicesRequestSchema,
  ListDevicesResponseSchema,
  ListOperatorsRequestSchema,
  ListOperatorsResponseSchema,
} from './generated/opserve/v1/operator_service_pb.js';
import type {
  AttributeParameter,
  AttributeRange,
  Device as DeviceMessage,
  GetServerInfoResponse,
  Gradient,
  OperatorSchema,
  TensorParameter,
} from './generated/opserve/v1/operator_service_pb.js';
import { GetStatisticsRequestSchema, GetStatisticsResponseSchema } from './generated/opserve/v1/statistics_pb.js';
import type { GetStatisticsResponse } from './generated/opserve/v1/statistics_pb.js';
import { parsed } from './wire.js';

/** A message as a plain object. 64-bit integers are numbers, exact up to 2^53. */
export type Plain<T> = T extends bigint
  ? number
  : T extends Uint8Array
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Plain<Item>[]
      : T extends object
        ? { readonly [Key in keyof T as Exclude<Key, keyof Message>]: Plain<T[Key]> }
        : T;

/** A server's version and limits: GetServerInfoResponse in operator_service.proto says what each is. */
export type ServerInfo = Plain<GetServerInfoResponse>;

/** What a server has counted since it started: docs/statistics.md says what each number means. */
export type Statistics = Plain<GetStatisticsResponse>;

/** A device of a server. */
export type Device = Omit<Plain<DeviceMessage>, 'state'> & { readonly state: keyof typeof DeviceState };

/** An input or an output of an operator. */
export interface Parameter {
  readonly name: string;
  readonly summary: string;
  readonly optional: boolean;
  readonly dtypes: readonly DType[];
  readonly shape: string;
}

export interface AttributeInfo {
  readonly name: string;
  readonly summary: string;
  /** "INT", "FLOAT", "BOOL", "INT_LIST", "BOOL_LIST" or "SCALAR". */
  readonly kind: keyof typeof AttributeKind;
  /** undefined where the attribute is required. A choice is its name. */
  readonly default: AttributeValue | undefined;
  /** The names of its values, where they have names. */
  readonly choices: readonly string[];
  /** Where it, or each element of a list, must lie. */
  readonly range: Plain<AttributeRange> | undefined;
}

/** An operator: what it is, what it takes and what it gives. */
export interface Operator {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly family: string;
  readonly inputs: readonly Parameter[];
  readonly attributes: readonly AttributeInfo[];
  readonly outputs: readonly Parameter[];
  /** The dtypes by the product profiles that run it. */
  readonly support: Readonly<Record<string, readonly DType[]>>;
  /** How to call the operator that computes its gradients. */
  readonly gradient: Plain<Gradient> | undefined;
}

export function serverInfoRequest(): Request<ServerInfo> {
  return query('GetServerInfo', GetServerInfoRequestSchema, {}, GetServerInfoResponseSchema, plain);
}

export function operatorsRequest(names: readonly string[] = []): Request<Operator[]> {
  return query(
    'ListOperators',
    ListOperatorsRequestSchema,
    { names: [...names] },
    ListOperatorsResponseSchema,
    (answer) => answer.operators.map(operatorOf),
  );
}

export function devicesRequest(): Request<Device[]> {
  return query('ListDevices', ListDevicesRequestSchema, {}, ListDevicesResponseSchema, ({ devices }) =>
    devices.map((device) => ({ ...plain(device), state: nameOf(DeviceState, device.state) })),
  );
}

export function statisticsRequest(): Request<Statistics> {
  return query('GetStatistics', GetStatisticsRequestSchema, {}, GetStatisticsResponseSchema, plain);
}

function query<In extends DescMessage, Out extends DescMessage, T>(
  method: string,
  input: In,
  message: MessageInitShape<In>,
  output: Out,
  read: (answer: MessageShape<Out>) => T,
): Request<T> {
  const bytes = Buffer.from(toBinary(input, create(input, message)));
  return { method, message: bytes, read: (answer) => read(parsed(output, answer)) };
}

/** A message, with all that is in it, as plain objects. */
export function plain<T>(value: T): Plain<T> {
  return plainValue(value) as Plain<T>;
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).filter(([name]) => !(isMessage(value) && name.startsWith('$')));
  return Object.fromEntries(entries.map(([name, item]) => [name, plainValue(item)]));
}

function nameOf<Enum extends Record<string, string | number>>(names: Enum, value: number): keyof Enum {
  return (names[value] as keyof Enum | undefined) ?? 'UNSPECIFIED';
}

function operatorOf(schema: OperatorSchema): Operator {
  const { name, summary, description, family, support } = schema;
  return {
    name,
    summary,
    description,
    family,
    inputs: schema.inputs.map(parameterOf),
    attributes: schema.attributes.map(attributeOf),
    outputs: schema.outputs.map(parameterOf),
    support: Object.fromEntries(support.map(({ profile, dtypes }) => [profile, dtypesOf(dtypes)])),
    gradient: schema.gradient === undefined ? undefined : plain(schema.gradient),
  };
}

function parameterOf({ name, summary, optional, dtypes, shape }: TensorParameter): Parameter {
  return { name, summary, optional, dtypes: dtypesOf(dtypes), shape };
}

/** Those that this version knows. */
function dtypesOf(dataTypes: readonly number[]): DType[] {
  return dataTypes.map(dtypeOf).filter((dtype) => dtype !== undefined);
}

function attributeOf({ name, summary, kind, defaultValue, choices, range }: AttributeParameter): AttributeInfo {
  const value = defaultValue === undefined ? undefined : attributeValue(defaultValue);
  const choice = choices.find((one) => Number(one.value) === value);
  return {
    name,
    summary,
    kind: nameOf(AttributeKind, kind),
    default: choice?.name ?? value,
    choices: choices.map((one) => one.name),
    range: range === undefined ? undefined : plain(range),
  };
}
