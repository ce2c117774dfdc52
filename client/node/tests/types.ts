// What TypeScript must accept and refuse; compiled, never run.

import { call, connect, Program, tensor } from '@opserve/client';
import type { DeviceTensor, OperatorName, OpserveError, ProgramPlan, Tensor, Value } from '@opserve/client';

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

export async function programsGoWhereNamesGo(x: Tensor): Promise<void> {
  await using client = await connect();
  const program = new Program();
  const y = program.step('y', 'Hardshrink', { self: program.input('x') }, { lambd: 0.5 }) satisfies Value;
  program.output('y', program.step('z', 'Add', { self: y, other: [1, 2] })).gradient(y, ['x'], { seed: 'dy' });
  const outputs = await client.execute(program, { x }, {}, { timeoutMs: 1 });
  outputs['y'] satisfies Tensor | undefined;
  const [batched] = await client.executeBatch([call(program, { x })]);
  if (batched.status === 'fulfilled') batched.value['y'] satisfies Tensor | undefined;
  (await client.plan(program, { x: { shape: [1] } })).program satisfies ProgramPlan | undefined;
  await using session = await client.session();
  (await session.execute(program, { x }))['y'] satisfies DeviceTensor | undefined;
  // @ts-expect-error: attributes without defaults
  program.step('s', 'Hardshrink', { self: y });
  // @ts-expect-error: no such input
  program.step('s', 'Relu', { other: y });
  // @ts-expect-error: a program's value is no tensor
  await client.execute('Relu', { self: y });
}
