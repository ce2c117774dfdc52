// What servers tell of themselves and of their operators.

import type { DType } from '../../node/src/values/dtypes.js';
import { badAnswer } from '../../node/src/values/errors.js';
import { dtypeOf } from './datatypes.js';
import type { Answer, Request } from './http.js';
import { intOf, isObject, listOf, member, objectOf, parsed, textOf } from './json.js';
import type { Members } from './json.js';

/** What a server is. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** What it has of the Open Inference Protocol. */
  readonly extensions: readonly string[];
}

/** An operator, and whether a device that works has it. */
export interface OperatorState {
  readonly name: string;
  readonly isReady: boolean;
  /** Why it is not. */
  readonly reason: string;
}

/** An input or an output of an operator. */
export interface Parameter {
  readonly name: string;
  /** The first of those that it may have. */
  readonly dtype: DType;
  /** −1 for what is free; [−1] for any rank. */
  readonly shape: readonly number[];
  readonly optional: boolean;
}

/** What an operator takes and gives. */
export interface Operator {
  readonly name: string;
  readonly inputs: readonly Parameter[];
  readonly outputs: readonly Parameter[];
  /** What each attribute is, in words. */
  readonly attributes: Readonly<Record<string, string>>;
}

const NOT_READY = 503;

export function serverRequest(): Request<ServerInfo> {
  return query('/v2', (answer) => ({
    name: textOf(member(answer, 'name'), 'name'),
    version: textOf(member(answer, 'version'), 'version'),
    extensions: listOf(member(answer, 'extensions'), 'extensions').map((entry) => textOf(entry, 'extension')),
  }));
}

/** Whether `path`, of a health check, answers that it is well. */
export function healthRequest(path: string): Request<boolean> {
  return { method: 'GET', path, alsoTaken: [NOT_READY], read: (_, status) => status !== NOT_READY };
}

export function operatorsRequest(): Request<OperatorState[]> {
  return {
    method: 'GET',
    path: '/v2/repository/index',
    read: ({ body }) => listOf(parsed(body), 'answer').map((entry) => stateOf(objectOf(entry, 'operator'))),
  };
}

export function operatorRequest(name: string): Request<Operator> {
  return query(`/v2/models/${encodeURIComponent(name)}/config`, (answer) => ({
    name: textOf(member(answer, 'name'), 'name'),
    inputs: parametersOf(answer, 'input'),
    outputs: parametersOf(answer, 'output'),
    attributes: attributesOf(objectOf(member(answer, 'parameters'), 'parameters')),
  }));
}

function query<T>(path: string, read: (answer: Members) => T): Request<T> {
  return { method: 'GET', path, read: ({ body }: Answer) => read(objectOf(parsed(body), 'answer')) };
}

function stateOf(entry: Members): OperatorState {
  const reason = member(entry, 'reason');
  return {
    name: textOf(member(entry, 'name'), 'name of an operator'),
    isReady: member(entry, 'state') === 'READY',
    reason: typeof reason === 'string' ? reason : '',
  };
}

function parametersOf(answer: Members, kind: string): Parameter[] {
  return listOf(member(answer, kind), kind).map((item) => {
    const entry = objectOf(item, kind);
    const name = textOf(member(entry, 'name'), `name of an ${kind}`);
    const type = textOf(member(entry, 'data_type'), `data_type of ${name}`);
    const dtype = dtypeOf(type.replace(/^TYPE_/, ''));
    if (dtype === undefined) throw badAnswer(`${name} has the data_type ${type}`);
    const shape = listOf(member(entry, 'dims'), `dims of ${name}`).map((dim) => intOf(dim, `dims of ${name}`, -1));
    return { name, dtype, shape, optional: member(entry, 'optional') === true };
  });
}

function attributesOf(parameters: Members): Readonly<Record<string, string>> {
  const texts = Object.entries(parameters).map(([name, value]) => {
    const text = isObject(value) ? member(value, 'string_value') : undefined;
    return [name, textOf(text, `parameter ${name}`)] as const;
  });
  return Object.fromEntries(texts);
}
