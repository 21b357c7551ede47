/** Tries a probe by the standard health protocol of gRPC: `grpc.health.v1.Health/Check`. */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { KUBERNETES_VERSION } from '../../pod/api/version.ts';
import { addressOf } from './dialError.ts';
import type { Try } from './probeTry.ts';

export interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  readonly service: string;
}

export interface GrpcOptions {
  readonly timeoutSeconds: number;
  /** When the time is over, in milliseconds since the epoch; infinite when only the signal ends it. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

const CHECK = '/grpc.health.v1.Health/Check';
const STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Only SERVING is success. */
export async function tryGrpc({ host, port, service }: GrpcTarget, options: GrpcOptions): Promise<Try> {
  const { timeoutSeconds, deadline, signal } = options;
  const address = addressOf(host, port);
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.primary_user_agent': `kube-probe/${KUBERNETES_VERSION}`,
    'grpc.enable_http_proxy': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
  });
  const ended = Promise.withResolvers<false>();
  const end = () => ended.resolve(false);
  signal.addEventListener('abort', end, { once: true });
  try {
    if (!(await Promise.race([isConnected(client, deadline), ended.promise]))) {
      const words = `timeout: failed to connect service "${address}" within ${timeoutSeconds}s: context deadline exceeded`;
      return { result: 'failure', message: words };
    }
    const answer = await Promise.race([checked(client, service, options), ended.promise]);
    return answer || { result: 'failure', message: incomplete(timeoutSeconds) };
  } finally {
    signal.removeEventListener('abort', end);
    client.close();
  }
}

const isConnected = (client: Client, deadline: number): Promise<boolean> =>
  new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(error === undefined)));

function checked(client: Client, service: string, { deadline, timeoutSeconds }: GrpcOptions): Promise<Try> {
  return new Promise((resolve) => {
    const answer = (error: ServiceError | null, served?: number) => {
      if (error) return resolve({ result: 'failure', message: wordsOf(error, timeoutSeconds) });
      const name = STATUSES[served ?? 0] ?? String(served);
      if (name === 'SERVING') resolve({ result: 'success', message: 'service healthy' });
      else resolve({ result: 'failure', message: `service unhealthy (responded with "${name}")` });
    };
    client.makeUnaryRequest(CHECK, request, servingStatus, service, { deadline }, answer);
  });
}

const incomplete = (timeoutSeconds: number) => `timeout: health rpc did not complete within ${timeoutSeconds}s`;

function wordsOf({ code, details }: ServiceError, timeoutSeconds: number): string {
  if (code === status.UNIMPLEMENTED) {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  }
  if (code === status.DEADLINE_EXCEEDED) return incomplete(timeoutSeconds);
  return `error: health rpc probe failed: rpc error: code = ${pascal(status[code] ?? '')} desc = ${details}`;
}

/** `NOT_FOUND` as Go's gRPC writes it: `NotFound`. */
const pascal = (name: string): string =>
  name.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A HealthCheckRequest: the service is field 1. */
function request(service: string): Buffer {
  return Buffer.from(new BinaryWriter().uint32(10).string(service).finish());
}

/** The status of a HealthCheckResponse: field 1. */
function servingStatus(bytes: Buffer): number {
  const reader = new BinaryReader(bytes);
  let served = 0;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 8) served = reader.int32();
    else reader.skip(tag & 7);
  }
  return served;
}
