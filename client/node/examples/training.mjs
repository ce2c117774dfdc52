// Teaches a convolutional classifier on an opserve server, one message a step: the loss and its gradients come back, and the weights
// are stepped here.
//
// Usage: node training.mjs [TARGET]     (default localhost:8500)

import { connect, OpserveError, Program, tensor } from '@opserve/client';

const [BATCH, SIZE, CHANNELS, CLASSES] = [32, 12, 8, 4];
const FEATURES = (CHANNELS * SIZE * SIZE) / 4;
const [STEPS, RATE] = [40, Math.fround(0.1)];
const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, SIZE - 1]]; // prettier-ignore

// Marsaglia's generator of 32 bits, whose numbers the examples of all languages draw.
let state = 1;

/** From 0 to 1. */
function uniform() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

/** Nearly normal: the sum of twelve numbers whose variances are a twelfth. */
function normal() {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += uniform();
  return sum;
}

function weights(count, scale) {
  return Float32Array.from({ length: count }, () => normal() * scale);
}

/** What is learned, by name. */
function firstWeights() {
  return {
    kernel: tensor(weights(CHANNELS * 9, 1 / 3), [CHANNELS, 1, 3, 3]),
    w: tensor(weights(FEATURES * CLASSES, 1 / Math.sqrt(FEATURES)), [FEATURES, CLASSES]),
    gamma: tensor(new Float32Array(CHANNELS).fill(1)),
    beta: tensor(new Float32Array(CHANNELS)),
    b: tensor(new Float32Array(CLASSES)),
  };
}

/** The loss of a batch, and its gradients. */
function model(learned) {
  const program = new Program();
  const [kernel, gamma, beta] = ['kernel', 'gamma', 'beta'].map((name) => program.input(name));
  const places = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], output_padding: [0, 0] };
  const conv = program.step('conv', 'Convolution', { input: program.input('x'), weight: kernel }, places);
  const sizes = { N: BATCH, C: CHANNELS, HxW: SIZE * SIZE, group: 2 };
  const norm = program.step('norm', 'GroupNorm', { self: conv, gamma, beta }, sizes);
  const relu = program.step('relu', 'Relu', { self: norm });
  const halved = { kernel_size: [2, 2], stride: [2, 2], padding: [0, 0] };
  const features = program.step('pool', 'AvgPool2d', { self: relu }, halved).reshape([-1, FEATURES]);
  const linear = { self: program.input('b'), mat1: features, mat2: program.input('w') };
  const scores = program.step('scores', 'Addmm', linear);
  const loss = program.step('loss', 'CrossEntropyLoss', { self: scores, target: program.input('classes') });
  return program.output('loss', loss).gradient(loss, Object.keys(learned));
}

/** Noisy pictures with stripes, across, down, and along either diagonal; and which they have. */
function samples() {
  const x = new Float32Array(BATCH * SIZE * SIZE);
  const classes = new BigInt64Array(BATCH);
  for (let sample = 0; sample < BATCH; sample++) {
    const label = Math.floor(uniform() * CLASSES);
    const phase = uniform() * 2 * Math.PI;
    const [down, across] = DIRECTIONS[label];
    classes[sample] = BigInt(label);
    for (let i = 0; i < SIZE * SIZE; i++) {
      const along = down * Math.floor(i / SIZE) + across * (i % SIZE);
      x[sample * SIZE * SIZE + i] = Math.sin((along * Math.PI) / 2 + phase) + 0.3 * normal();
    }
  }
  return { x: tensor(x, [BATCH, 1, SIZE, SIZE]), classes };
}

try {
  const client = await connect(process.argv[2]);
  const learned = firstWeights();
  const program = model(learned);
  for (let step = 0; step < STEPS; step++) {
    const outputs = await client.execute(program, { ...samples(), ...learned });
    for (const [name, { data }] of Object.entries(learned)) {
      outputs[`grad_${name}`].data.forEach((gradient, i) => (data[i] -= Math.fround(RATE * gradient)));
    }
    if (step % 10 === 0 || step === STEPS - 1) console.log(`step ${step} loss ${outputs.loss.data[0].toFixed(4)}`);
  }
  client.close();
} catch (error) {
  if (!(error instanceof OpserveError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
