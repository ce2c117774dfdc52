// What TypeScript must accept and refuse; compiled, never run.

import { call, connect, tensor } from '@opserve/client';
import type { DeviceTensor, OperatorName, OpserveError, Tensor } from '@opserve/client';

export async function outputsHaveTheirNames(x: Tensor): Promise<void> {
  await using client = await connect();
  const { out, mean, rstd } = await client.execute(
    'GroupNorm',
    { self: x, gamma: [1, 2] },
    { N: 1, C: 2, HxW: 1, group: 1, eps: 1e-5 },
  );
  const tensors: Tensor[] = [out, mean, rstd];
  const elements: Float32Array = tensors[0]!.as('float32');
  await client.execute('Relu', { self: elements }, undefined, { timeoutMs: 1, outputDtypes: { out: 'float16' } });
  // @ts-expect-error: no such output
  (await client.execute('Relu', { self: x })).result;
  // @ts-expect-error: no such output
  await client.execute('Relu', { self: x }, {}, { outputDtypes: { result: 'float16' } });
}

export async function inputsAndAttributesAreChecked(x: Tensor): Promise<void> {
  await using client = await connect(['one:1', 'two:2'], { tls: { ca: '' }, token: 'secret' });
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
  // @ts-expect-error: an input is missing
  call('Add', { self: x });
}

export async function unknownOperatorsTakeAnything(op: string, x: Tensor): Promise<Tensor | undefined> {
  await using client = await connect();
  const { anything } = await client.execute('FromTheFuture', { a: x, b: [1n] }, { attribute: [true] });
  const outputs = await client.execute(op, { self: x });
  const name: OperatorName = 'Relu';
  await client.execute(name, { self: x });
  return anything ?? outputs['out'];
}

export async function batchesKeepTheirOrder(x: Tensor): Promise<void> {
  await using client = await connect();
  const [first, second] = await client.executeBatch([
    call('Relu', { self: x }),
    call('SmoothL1Loss', { self: x, target: x }),
  ]);
  if (first.status === 'fulfilled') first.value.out satisfies Tensor;
  if (second.status === 'fulfilled') second.value.result satisfies Tensor;
  if (second.status === 'rejected') (second.reason as OpserveError).retryAfterMs satisfies number | undefined;
  // @ts-expect-error: it is the other one's
  if (first.status === 'fulfilled') first.value.result;
}

export async function sessionsHaveTheSame(): Promise<void> {
  await using client = await connect();
  await using session = await client.session({ device: 'cpu:0' });
  using self = await session.tensor([[1, 2]], { dtype: 'bfloat16' });
  const { result } = await session.execute('SmoothL1Loss', { self, target: 0 }, { reduction: 'none' });
  result satisfies DeviceTensor;
  const executor = await session.plan('Relu', { self }, {}, { outputs: { out: self } });
  executor.run({ stream: session.stream() }).out satisfies DeviceTensor;
  // @ts-expect-error: no such output
  await session.plan('Relu', { self }, {}, { outputs: { result: self } });
}
