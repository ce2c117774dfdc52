// What browser.test.mjs has a page do; it sends what it finds to where the page is from.

import { connect, tensor } from './dist/opserve.js';

const { allowing, refusing } = Object.fromEntries(new URLSearchParams(location.search));

async function gradient(client) {
  const x = tensor(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [4, 2]);
  const ones = tensor(new Float32Array(8).fill(1), [4, 2]);
  const inputs = { grad_out: ones, self: x, target: ones };
  const { grad_input } = await client.execute('SmoothL1LossBackward', inputs, { reduction: 'none', beta: 1 });
  return { shape: grad_input.shape, values: [...grad_input.data] };
}

async function halves(client) {
  const { out } = await client.execute('Add', { self: tensor([1, 2], [2], 'float16'), other: 0.5 });
  return { dtype: out.dtype, values: [...out.toFloat32()] };
}

async function large(client) {
  const self = Float32Array.from({ length: 1 << 20 }, (_, i) => i);
  const { out } = await client.execute('Relu', { self }, {}, { timeoutMs: 60_000 });
  return { size: out.size, last: out.data.at(-1), aligned: out.data.buffer === out.bytes.buffer };
}

async function wrong(client) {
  const call = client.execute('SmoothL1Loss', { self: [1], target: [1] }, { beta: -1 });
  const { name, code, reason, parameter, got } = await call.catch((error) => error);
  return { name, code, reason, parameter, got };
}

async function aborted(client) {
  const controller = new AbortController();
  const call = client.execute('Relu', { self: 1 }, {}, { signal: controller.signal });
  controller.abort();
  return (await call.catch((error) => error)).name;
}

async function refused() {
  const { code, message } = await connect(refusing).catch((error) => error);
  return { code, message };
}

/** What the example shows. */
async function example() {
  const frame = document.createElement('iframe');
  frame.src = `/examples/gradient.html?${encodeURIComponent(allowing)}`;
  document.body.append(frame);
  for (let tries = 0; tries < 600; tries++) {
    const text = frame.contentDocument?.getElementById('result')?.textContent ?? '…';
    if (text !== '…') return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return 'nothing';
}

async function findings() {
  const client = await connect(allowing);
  return {
    gradient: await gradient(client),
    example: await example(),
    halves: await halves(client),
    large: await large(client),
    error: await wrong(client),
    aborted: await aborted(client),
    refused: await refused(),
  };
}

const told = await findings().catch((error) => ({ failure: String(error?.stack ?? error) }));
await fetch('/', { method: 'POST', body: JSON.stringify(told) });
