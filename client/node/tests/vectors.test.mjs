// The vectors of proto/conformance, sent and read as the package sends and reads: the rules are in their README.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { createRegistry, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';

import { errorOfRpc } from '../dist/rpc_errors.js';
import { ErrorInfoSchema, RetryInfoSchema } from '../dist/generated/google/rpc/error_details_pb.js';
import * as api from '../dist/generated/opserve/v1/operator_service_pb.js';
import {
  AnswerSchema,
  CommandSchema,
  SessionRequestSchema,
  SessionResponseSchema,
} from '../dist/generated/opserve/v1/session_pb.js';
import * as statistics from '../dist/generated/opserve/v1/statistics_pb.js';
import { joined, parsed } from '../dist/wire.js';
import { serverForTests } from './support/server.mjs';

const FOLDER = new URL('../../../proto/conformance/', import.meta.url);
const casesOf = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).cases;
const registry = createRegistry(ErrorInfoSchema, RetryInfoSchema);
const same = (bytes) => bytes;
const limits = () => ({ deadline: Date.now() + 30_000 });

const server = await serverForTests(test);
const client = new Client(server.address, credentials.createInsecure());
test.after(() => client.close());

/** A message as JSON, with the defaults of fields that have no presence. */
const told = (schema, message) => toJson(schema, message, { alwaysEmitImplicit: true, registry });

const isNumber = (value) => typeof value === 'number' || (typeof value === 'string' && value !== '' && !isNaN(value));
const isDefault = (value) => [0, '0', false, ''].includes(value);
const asList = (value) => (Array.isArray(value) ? value : []);

/** Asserts that what came has all that a vector names. */
function matches(got, want, place) {
  if (Array.isArray(want)) {
    assert.equal(asList(got).length, want.length, `${place}: ${JSON.stringify(got)}`);
    want.forEach((item, i) => matches(got[i], item, `${place}[${i}]`));
  } else if (typeof want === 'object') {
    for (const [name, value] of Object.entries(want)) {
      if (got?.[name] === undefined && isDefault(value)) continue;
      matches(got?.[name] ?? (Array.isArray(value) ? [] : undefined), value, `${place}.${name}`);
    }
    assert.notEqual(got, undefined, `${place} is missing`);
  } else if (isNumber(want) && isNumber(got)) {
    assert.equal(Number(got), Number(want), place);
  } else {
    assert.equal(got, want, place);
  }
}

/** Asserts that an RPC's status is a vector's `error` or `end`. */
function matchesError(status, want) {
  const { code, reason, operator, parameter, want: wanted, got, aclnnCode } = errorOfRpc(status);
  const metadata = { operator, parameter, want: wanted, got, code: aclnnCode === undefined ? '' : String(aclnnCode) };
  matches({ code, reason, metadata }, want, 'error');
}

function call(method, request) {
  return new Promise((resolve, reject) => {
    const done = (error, answer) => (error ? reject(error) : resolve(answer));
    client.makeUnaryRequest(`/opserve.v1.OperatorService/${method}`, same, same, request, limits(), done);
  });
}

for (const { name, method, request, response, error } of casesOf('unary.json')) {
  test(`unary: ${name}`, async () => {
    const schemas = method === 'GetStatistics' ? statistics : api;
    const message = fromJson(schemas[`${method}RequestSchema`], request, { registry });
    const sent = Buffer.from(toBinary(schemas[`${method}RequestSchema`], message));
    if (error !== undefined) {
      await assert.rejects(call(method, sent), (status) => (matchesError(status, error), true));
      return;
    }
    const schema = schemas[`${method}ResponseSchema`];
    const got = told(schema, parsed(schema, await call(method, sent)));
    matches(got, response, 'response');
    asList(response.results).forEach((result, i) => assert.equal('error' in got.results[i], 'error' in result));
  });
}

/** Numbers the entries of `raw` that an answer names anew, in the order in which it first names them; gives them. */
function renumbered(answer, raw) {
  const named = [];
  const numberOf = (index) => (named.includes(index) ? named.indexOf(index) : named.push(index) - 1);
  if (answer.answer.case === 'chunk') answer.answer.value.rawIndex = numberOf(answer.answer.value.rawIndex);
  if (answer.answer.case === 'outputs') {
    for (const { data } of answer.answer.value.outputs) if (data.case === 'rawIndex') data.value = numberOf(data.value);
  }
  return named.map((index) => Buffer.from(raw[index]).toString('base64'));
}

function sessionMessage(text) {
  const whole = fromJson(SessionRequestSchema, text, { registry });
  const commands = whole.commands.map((command) => toBinary(CommandSchema, command));
  const message = joined(commands, whole.raw);
  assert.deepEqual(
    told(SessionRequestSchema, fromBinary(SessionRequestSchema, message)),
    told(SessionRequestSchema, whole),
  );
  return message;
}

/** The answers of a whole session by their commands' ids, and how the RPC ended. */
async function conversation(messages) {
  const rpc = client.makeBidiStreamRequest('/opserve.v1.SessionService/Session', same, same, limits());
  const came = new Map();
  rpc.on('data', (bytes) => {
    const { answers, raw } = parsed(SessionResponseSchema, bytes);
    for (const answer of answers) {
      const entries = renumbered(answer, raw);
      const id = String(answer.id);
      came.set(id, [...(came.get(id) ?? []), { answer: told(AnswerSchema, answer), raw: entries }]);
    }
  });
  rpc.on('error', () => undefined);
  const ended = new Promise((resolve) => rpc.on('status', resolve));
  for (const message of messages) rpc.write(sessionMessage(message));
  rpc.end();
  return { came, status: await ended };
}

for (const { name, messages, answers = {}, end } of casesOf('session.json')) {
  test(`session: ${name}`, async () => {
    const { came, status } = await conversation(messages);
    assert.ok('info' in came.get('0')[0].answer);
    came.delete('0');
    if (end === undefined) assert.equal(status.code, 0, status.details);
    else matchesError(status, end);
    assert.deepEqual([...came.keys()].sort(), Object.keys(answers).sort());
    for (const [id, wanted] of Object.entries(answers)) {
      assert.equal(came.get(id).length, wanted.length);
      came.get(id).forEach(({ answer, raw }, i) => {
        const { raw: wantedRaw = [], ...want } = wanted[i];
        assert.deepEqual(raw, wantedRaw);
        matches(answer, want, `answer ${i} of ${id}`);
        assert.equal('error' in answer, 'error' in want, JSON.stringify(answer));
        assert.equal(Boolean(answer.more), Boolean(want.more));
      });
    }
  });
}
