// Programs on a real server.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

import { call, connect, InvalidArgumentError, Program, tensor } from '@opserve/client';

import { serverForTests } from './support/server.mjs';

const server = await serverForTests(test);
const client = await connect(server.address, { timeoutMs: 30_000 });
test.after(() => client.close());
const run = promisify(execFile);

const W = [0.1, -0.4, 0.7, 0.2, -0.3, 0.9];
const B = [0.05, -0.2];

/** A loss whose value w is used twice, once through a view. */
function perceptron() {
  const program = new Program();
  const w = program.input('w');
  const h = program.step('h', 'Addmm', { self: program.input('b'), mat1: program.input('x'), mat2: w });
  const a = program.step('a', 'Gelu', { self: h });
  const y = program.step('y', 'Matmul', { self: a, mat2: w.view([2, 3], [1, 2]) });
  const loss = program.step(
    'loss',
    'MseLoss',
    { self: y.reshape([-1]), target: program.input('t') },
    { reduction: 'mean' },
  );
  return program.output('loss', loss).gradient(loss, ['w', 'b']);
}

function inputsOf(w = W, b = B) {
  const x = tensor([0.5, -1, 2, 1.5, 0.25, -0.5], [2, 3]);
  return { x, w: tensor(w, [w.length / 2, 2]), b, t: [1, 0, -1, 0.5, 2, 1] };
}

function changed(values, at, by) {
  return values.map((value, i) => (i === at ? value + by : value));
}

async function lossOf(program, w, b) {
  const { loss } = await client.execute(program, inputsOf(w, b));
  return loss.as('float32')[0];
}

test('gradients are those of finite differences', async () => {
  const program = perceptron();
  const { grad_w, grad_b } = await client.execute(program, inputsOf());
  for (const [gradient, values, loss] of [
    [grad_w, W, (w) => lossOf(program, w, B)],
    [grad_b, B, (b) => lossOf(program, W, b)],
  ]) {
    assert.equal(gradient.size, values.length);
    for (let i = 0; i < values.length; i++) {
      const above = await loss(changed(values, i, 1e-2));
      const below = await loss(changed(values, i, -1e-2));
      const want = (above - below) / 2e-2;
      assert.ok(Math.abs(gradient.data[i] - want) < 2e-3, `[${i}]: want ${want}, got ${gradient.data[i]}`);
    }
  }
});

test('batches and sessions take programs, too', async () => {
  const program = perceptron();
  const alone = await client.execute(program, inputsOf());
  const [batched] = await client.executeBatch([call(program, inputsOf())]);
  const session = await client.session();
  const executor = await session.plan(program, inputsOf());
  const once = await session.execute(program, inputsOf());
  for (const outputs of [executor.run(), executor.run(), once]) {
    for (const name of ['loss', 'grad_w', 'grad_b']) {
      assert.deepEqual((await outputs[name].download()).data, alone[name].data, name);
      assert.deepEqual(batched.value[name].data, alone[name].data, name);
    }
  }
  await session.close();
});

test('an error names the step and its parameter', async () => {
  await assert.rejects(client.execute(perceptron(), inputsOf(Array(8).fill(0))), (error) => {
    assert.ok(error instanceof InvalidArgumentError);
    assert.equal(
      error.message,
      "SHAPE_MISMATCH 161002: Addmm: h.mat2: want K = 3 as in mat1's shape [2, 3], got [4, 2]",
    );
    assert.deepEqual([error.operator, error.parameter], ['Addmm', 'h.mat2']);
    return true;
  });
});

test('mistakes are told where they are made', () => {
  const program = new Program();
  const x = program.input('x');
  const row = x.view([2], [1], 1);
  const other = new Program().input('y');
  for (const [mistake, message] of [
    [
      () => row.reshape([1, 2]),
      'reshape: want a value whose elements lie in their order, got the view x[2].strides(1).offset(1)',
    ],
    [
      () => row.view([1], [1]),
      'view: want a value whose elements lie in their order, got the view x[2].strides(1).offset(1)',
    ],
    [() => x.view([2], [1, 1]), 'strides: want 1, got 2'],
    [() => x.reshape([-1]).output('mean'), 'output: want a step for the output mean, got the view x[-1]'],
    [
      () => program.gradient(x.reshape([]), ['x']),
      'gradient.of: want an input or a result of a step, got the view x[]',
    ],
    [() => program.output('y', other), 'outputs: want a value of this program, got y of another'],
    [() => program.step('s', 'Relu', { self: other }), 's.self: want a value of this program, got y of another'],
    [() => program.step('s', 'Relu', { self: 'x' }), 's.self: want a tensor, a typed array or numbers, got string'],
    [
      () => program.step('s', 'Gelu', { self: x }, { a: null }),
      's: a: want a number, a boolean, a name or a list of numbers, got null',
    ],
  ]) {
    assert.throws(mistake, { message });
  }
  assert.equal(String(program), 'return \n');
});

test('outputs of steps, and seeds', async () => {
  const program = new Program();
  const norm = program.step('norm', 'LayerNorm', { input: program.input('x') }, { normalized_shape: [2] });
  program.output('mean', norm.output('mean')).gradient(norm, ['x'], { seed: 'dy' });
  const inputs = { x: [[1, 3], [2, 6]], dy: [[1, 1], [1, 1]] }; // prettier-ignore
  const { mean, grad_x } = await client.execute(program, inputs);
  assert.deepEqual([...mean.data], [2, 4]);
  assert.ok(grad_x.as('float32').every((gradient) => Math.abs(gradient) < 1e-5));
});

test('a program larger than a message goes in pieces', async (t) => {
  const small = await serverForTests(t, ['--max-message-bytes', '1048576']);
  const pieces = await connect(small.address, { timeoutMs: 30_000 });
  t.after(() => pieces.close());
  const program = new Program();
  const relu = program.step('relu', 'Relu', { self: program.input('x') });
  program.output('sum', program.step('sum', 'Add', { self: relu, other: relu }));
  const x = new Float32Array(1 << 19);
  x[x.length - 1] = 2;
  const { sum } = await pieces.execute(program, { x });
  assert.deepEqual([sum.size, sum.data.at(-1)], [x.length, 4]);
});

/** What `opserve program show` prints of a program. */
async function shown(text, ...more) {
  const file = join(server.folder, 'a.program');
  writeFileSync(file, text);
  const command = process.env.OPSERVE_BIN_DIR ? join(process.env.OPSERVE_BIN_DIR, 'opserve') : 'opserve';
  const { stdout } = await run(command, ['program', 'show', file, '--target', server.address, ...more]);
  return stdout;
}

test('a plan is the text that the command shows', async () => {
  const program = perceptron();
  const plan = await client.plan(program, inputsOf());
  assert.ok(plan.workspaceBytes > 0 && plan.program.intermediateBytes > 0);
  const specs = ['x=f32[2,3]', 'w=f32[3,2]', 'b=f32[2]', 't=f32[6]'].flatMap((spec) => ['-i', spec]);
  const want = await shown(String(program), ...specs);
  assert.equal(String(plan.program), want);
  assert.match(want, /return loss=loss.out, grad_w=/);
  assert.equal((await client.plan('Relu', { self: [1] })).program, undefined);
});

/** Numbers of any bits of each floating type, and powers of two, whose neighbours are not equally near. */
function numbers() {
  let bits = 1;
  const random = Uint32Array.from({ length: 1000 }, () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return bits;
  });
  const powers = Array.from({ length: 2098 }, (_, i) => 2 ** (i - 1074));
  return [
    Float64Array.from(powers),
    Float32Array.from(powers),
    new Float32Array(random.buffer),
    new Float64Array(random.buffer),
    tensor(new Uint16Array(random.buffer), [2000], 'float16'),
    tensor(new Uint16Array(random.buffer), [2000], 'bfloat16'),
  ];
}

/** A step for each way that a text has numbers, views and attributes. */
function literals() {
  const program = new Program();
  const x = program.input('x');
  const doubles = [
    0.1,
    123456789012345680,
    1e22,
    Math.PI,
    1e-5,
    0.001,
    1e100,
    5e-324,
    NaN,
    Infinity,
    2 ** 83,
    2 ** -44,
  ];
  for (const [i, other] of [
    ...numbers(),
    0.1,
    tensor([1e5, 123456792, 0, -0, -Infinity, 1e-7, 3.4e38, 0.5, 2 ** 83, 2 ** -44], [2, 5]),
    Float64Array.from(doubles),
    tensor([0.1, 6e-8, 65504, 3.14159, Infinity], [5], 'float16'),
    tensor([0.1, 9e-41, 1e38, 12345, 100], [5], 'bfloat16'),
    tensor([-(2n ** 63n), 7n], [2, 1]),
    tensor(2n ** 64n - 1n, [], 'uint64'),
    tensor(255, [1, 1, 1], 'uint8'),
    [true, false],
    tensor([], [0, 3]),
    tensor(Float32Array.of(1, 2, 3, 4), [2, 2], undefined, { strides: [1, 2] }),
    x.reshape([-1]),
    x.reshape([]),
    x.view([3, 2], [1, 3], 1),
    x.view([], [], 5),
    x,
  ].entries()) {
    program.step(`s${i}`, 'Add', { self: x, other }, { alpha: 0.1 });
  }
  program.step('pool', 'AvgPool2d', { self: x }, { kernel_size: [2, 2], stride: [], padding: [0, 1], ceil_mode: true });
  return program.output('out', x).output('sum', program.step('sum', 'ReduceSum', { self: x }, { dims: [0] }));
}

test('a program is the text that the command reads', async () => {
  const text = String(literals());
  assert.equal(text, await shown(text));
  const program = new Program();
  program.gradient(program.step('y', 'Relu', { self: program.input('x') }).output('out'), ['x', 'w'], {
    seed: 'dy',
    maxWorkspaceBytes: 4096,
  });
  assert.equal(String(program), 'y = Relu(self=x)\ngradient y.out: x, w seed dy within 4096\nreturn \n');
});

test('what a text says moves no cursor', () => {
  const program = new Program();
  program.step('a\u001b[2J\n', 'Relu', { self: 1.5 });
  assert.equal(String(program), 'a?[2J? = Relu(self=f32[]{1.5})\nreturn \n');
});

test('the lines that docs/programs.md has', async () => {
  const [x, w, b, classes] = [tensor([1, 2, 3, 4, 5, 6], [2, 3]), tensor(Array(6).fill(0), [3, 2]), [0, 0], [0n, 1n]];

  const program = new Program();
  const linear = { self: program.input('b'), mat1: program.input('x'), mat2: program.input('w') };
  const h = program.step('h', 'Addmm', linear);
  const loss = program.step('loss', 'CrossEntropyLoss', { self: h, target: program.input('classes') });
  program.output('loss', loss).gradient(loss, ['w', 'b']);
  const outputs = await client.execute(program, { x, w, b, classes }); // loss, grad_w, grad_b

  assert.deepEqual([...outputs.loss.data], [Math.fround(Math.LN2)]);
  assert.deepEqual([...outputs.grad_w.data], [0.75, -0.75, 0.75, -0.75, 0.75, -0.75]);
  const page = readFileSync(new URL('../../../docs/programs.md', import.meta.url), 'utf8');
  const [, block] = page.match(/^```ts\n(.*?)^```$/ms);
  const words = (text) => text.trim().replace(/\s+/g, ' ');
  assert.ok(words(readFileSync(new URL(import.meta.url), 'utf8')).includes(words(block)), block);
});
