// A server of the test's own, which answers with what the test says.

import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { create, toBinary } from '@bufbuild/protobuf';

import { ErrorInfoSchema, RetryInfoSchema } from '../../dist/generated/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../dist/generated/google/rpc/status_pb.js';
import { GetServerInfoResponseSchema } from '../../dist/generated/opserve/v1/operator_service_pb.js';

const METHODS = ['GetServerInfo', 'ListOperators', 'ListDevices', 'GetWorkspaceSize', 'Execute', 'ExecuteBatch'];
const same = (bytes) => bytes;

/**
 * Serves while `body(address, calls)` runs. Each unary call is answered by the next of `steps`: bytes, an error, or a function of the
 * call that gives one of them. `calls` has the metadata of those that came. `session` answers a session's stream.
 */
export async function serving({ steps = [], session }, body) {
  const server = new Server();
  const calls = [];
  const answer = async (call, callback) => {
    calls.push(call.metadata);
    const step = steps[calls.length - 1];
    const told = typeof step === 'function' ? await step(call) : (step ?? new Error('no step is left'));
    if (told instanceof Uint8Array) callback(null, told);
    else callback(told);
  };
  for (const name of METHODS) server.register(`/opserve.v1.OperatorService/${name}`, answer, same, same, 'unary');
  if (session) server.register('/opserve.v1.SessionService/Session', session, same, same, 'bidi');
  const port = await new Promise((resolve, reject) =>
    server.bindAsync('localhost:0', ServerCredentials.createInsecure(), (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );
  try {
    return await body(`localhost:${port}`, calls);
  } finally {
    server.forceShutdown();
  }
}

/** The answer to `connect`. */
export function info(fields = {}) {
  const message = create(GetServerInfoResponseSchema, { version: '7', maxMessageBytes: 2n ** 28n, ...fields });
  return Buffer.from(toBinary(GetServerInfoResponseSchema, message));
}

export const unavailable = { code: status.UNAVAILABLE, details: 'draining' };

/** RESOURCE_EXHAUSTED, with how long to wait in a RetryInfo or in gRPC's pushback. */
export function busy({ retryMs, pushbackMs }) {
  const details = [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value: errorInfo('RESOURCE_LIMIT') }];
  if (retryMs !== undefined) {
    const delay = { seconds: BigInt(Math.floor(retryMs / 1000)), nanos: (retryMs % 1000) * 1e6 };
    const value = toBinary(RetryInfoSchema, create(RetryInfoSchema, { retryDelay: delay }));
    details.push({ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value });
  }
  const metadata = new Metadata();
  const told = create(StatusSchema, { code: 8, message: 'too busy', details });
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, told)));
  if (pushbackMs !== undefined) metadata.set('grpc-retry-pushback-ms', String(pushbackMs));
  return { code: status.RESOURCE_EXHAUSTED, details: 'too busy', metadata };
}

function errorInfo(reason) {
  return toBinary(ErrorInfoSchema, create(ErrorInfoSchema, { reason, domain: 'opserve.dev' }));
}
