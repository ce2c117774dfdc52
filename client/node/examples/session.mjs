// A session on an opserve server: GroupNorm, then its gradient; CtcLoss, then its gradient. What a forward call leaves for the
// backward one (mean, rstd; log_alpha) never leaves the device.
//
// Usage: node session.mjs [TARGET]     (default localhost:8500)

import { connect, OpserveError, tensor } from '@opserve/client';

async function groupNorm(session) {
  const sizes = { N: 1, C: 4, HxW: 2, group: 2 };
  const x = await session.tensor(tensor(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [1, 4, 2]));
  const gamma = session.full([4], 1);
  const grad_out = tensor(Float32Array.of(1, 0, 0, 0, 0, 2, 0, 0), [1, 4, 2]);
  const { out, mean, rstd } = await session.execute('GroupNorm', { self: x, gamma }, { ...sizes, eps: 1e-5 });
  const gradients = await session.execute('GroupNormBackward', { grad_out, input: x, mean, rstd, gamma }, sizes);
  return { out, ...gradients };
}

async function ctcLoss(session) {
  const [steps, batch, classes] = [3, 1, 3];
  const labels = { input_lengths: [steps], target_lengths: [1], blank: 0, zero_infinity: false };
  const log_probs = session.full([steps, batch, classes], Math.log(1 / classes));
  const targets = await session.tensor([[2n]]);
  const forward = await session.execute('CtcLoss', { log_probs, targets }, labels);
  const grad_out = session.full([batch], 1);
  const gradient = await session.execute('CtcLossBackward', { grad_out, log_probs, targets, ...forward }, labels);
  return { neg_log_likelihood: forward.neg_log_likelihood, ...gradient };
}

try {
  const client = await connect(process.argv[2]);
  const session = await client.session({ timeoutMs: 30_000 });
  for (const [name, value] of Object.entries({ ...(await groupNorm(session)), ...(await ctcLoss(session)) })) {
    const { data } = await value.download();
    console.log(name, ...Array.from(data, (element) => element.toFixed(3)));
  }
  await session.close();
  client.close();
} catch (error) {
  if (!(error instanceof OpserveError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
