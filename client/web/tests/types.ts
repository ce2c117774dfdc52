// What TypeScript must accept and refuse; compiled, never run.

import { connect, tensor } from '@opserve/web';
import type { OperatorName, OpserveError, Tensor } from '@opserve/web';

export async function outputsHaveTheirNames(x: Tensor): Promise<void> {
  const client = await connect('http://localhost:8600', { token: 'secret', timeoutMs: 1, maxAnswerBytes: 1 });
  const attributes = { N: 1, C: 2, HxW: 1, group: 1, eps: 1e-5 };
  const { out, mean, rstd } = await client.execute('GroupNorm', { self: x, gamma: [1, 2] }, attributes);
  const tensors: Tensor[] = [out, mean, rstd];
  const elements: Float32Array = tensors[0]!.as('float32');
  await client.execute('Relu', { self: elements }, undefined, { timeoutMs: 1, device: 'cpu:0' });
  // @ts-expect-error: no such output
  (await client.execute('Relu', { self: x })).result;
  // @ts-expect-error: no such output
  await client.execute('Relu', { self: x }, {}, { outputs: ['result'] });
}

export async function onlyWantedOutputsCome(x: Tensor): Promise<Tensor> {
  const client = await connect(new URL('https://example.org/opserve'));
  const attributes = { N: 1, C: 2, HxW: 1, group: 1, eps: 1e-5 };
  const some = await client.execute('GroupNorm', { self: x }, attributes, { outputs: ['out'] });
  // @ts-expect-error: it was not asked for
  some.mean;
  return some.out;
}

export async function inputsAndAttributesAreChecked(x: Tensor): Promise<void> {
  const client = await connect('http://localhost:8600');
  await client.execute('SmoothL1Loss', { self: x, target: 1 }, { reduction: 'sum', beta: undefined });
  // @ts-expect-error: an input is missing
  await client.execute('SmoothL1Loss', { self: x });
  // @ts-expect-error: no such input
  await client.execute('Relu', { self: x, other: x });
  // @ts-expect-error: no such choice
  await client.execute('SmoothL1Loss', { self: x, target: x }, { reduction: 'most' });
  // @ts-expect-error: attributes without defaults
  await client.execute('GroupNorm', { self: x });
  // @ts-expect-error: no such dtype
  tensor([1], [1], 'float8');
}

export async function unknownOperatorsTakeAnything(op: string, x: Tensor): Promise<Tensor | undefined> {
  const client = await connect('http://localhost:8600');
  const { anything } = await client.execute('FromTheFuture', { a: x, b: [1n] }, { attribute: [true] });
  const outputs = await client.execute(op, { self: x });
  const name: OperatorName = 'Relu';
  await client.execute(name, { self: x });
  return anything ?? outputs['out'];
}

export function errorsHaveParts(error: OpserveError): number | undefined {
  error.parameter satisfies string;
  return error.retryAfterMs;
}
