/** Tries a probe by the standard health protocol of gRPC: `grpc.health.v1.Health/Check`. */
import { status } from '@grpc/grpc-js';
import { addressOf } from '../http/dialError.ts';
import type { GrpcTarget, HealthOptions, Network } from '../http/network.ts';
import type { Try } from './probeTry.ts';

interface GrpcOptions extends HealthOptions {
  readonly timeoutSeconds: number;
}

const STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Only SERVING is success. */
export async function tryGrpc(
  network: Pick<Network, 'checkHealth'>,
  target: GrpcTarget,
  { timeoutSeconds, deadline, signal }: GrpcOptions,
): Promise<Try> {
  const answer = await network.checkHealth(target, { deadline, signal });
  if (answer === 'unconnected') {
    const service = addressOf(target.host, target.port);
    const words = `timeout: failed to connect service "${service}" within ${timeoutSeconds}s: context deadline exceeded`;
    return { result: 'failure', message: words };
  }
  if (answer === 'incomplete') return { result: 'failure', message: incomplete(timeoutSeconds) };
  if ('code' in answer) return { result: 'failure', message: wordsOf(answer, timeoutSeconds) };
  const name = STATUSES[answer.served] ?? String(answer.served);
  if (name === 'SERVING') return { result: 'success', message: 'service healthy' };
  return { result: 'failure', message: `service unhealthy (responded with "${name}")` };
}

const incomplete = (timeoutSeconds: number) => `timeout: health rpc did not complete within ${timeoutSeconds}s`;

function wordsOf({ code, details }: { code: number; details: string }, timeoutSeconds: number): string {
  if (code === status.UNIMPLEMENTED) {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  }
  if (code === status.DEADLINE_EXCEEDED) return incomplete(timeoutSeconds);
  return `error: health rpc probe failed: rpc error: code = ${pascal(status[code] ?? '')} desc = ${details}`;
}

/** `NOT_FOUND` as Go's gRPC writes it: `NotFound`. */
const pascal = (name: string): string =>
  name.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
