/** Probes a container with the standard gRPC health protocol, `grpc.health.v1.Health/Check`. */
import { status } from '@grpc/grpc-js';
import { joinHostPort } from '../http/dialError.ts';
import type { GrpcTarget, HealthOptions, Network } from '../http/network.ts';
import type { ProbeAttempt } from './probeAttempt.ts';

interface GrpcOptions extends HealthOptions {
  readonly timeoutSeconds: number;
}

const SERVING_STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

export async function probeGrpc(
  network: Pick<Network, 'checkHealth'>,
  target: GrpcTarget,
  { timeoutSeconds, deadline, signal }: GrpcOptions,
): Promise<ProbeAttempt> {
  const response = await network.checkHealth(target, { deadline, signal });
  if (response === 'unconnected') {
    const service = joinHostPort(target.host, target.port);
    const message = `timeout: failed to connect service "${service}" within ${timeoutSeconds}s: context deadline exceeded`;
    return { result: 'failure', message };
  }
  if (response === 'incomplete') return { result: 'failure', message: formatTimeout(timeoutSeconds) };
  if ('code' in response) return { result: 'failure', message: grpcErrorMessage(response, timeoutSeconds) };
  const name = SERVING_STATUSES[response.served] ?? String(response.served);
  if (name === 'SERVING') return { result: 'success', message: 'service healthy' };
  return { result: 'failure', message: `service unhealthy (responded with "${name}")` };
}

const formatTimeout = (timeoutSeconds: number) => `timeout: health rpc did not complete within ${timeoutSeconds}s`;

function grpcErrorMessage({ code, details }: { code: number; details: string }, timeoutSeconds: number): string {
  if (code === status.UNIMPLEMENTED) {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  }
  if (code === status.DEADLINE_EXCEEDED) return formatTimeout(timeoutSeconds);
  return `error: health rpc probe failed: rpc error: code = ${toPascalCase(status[code] ?? '')} desc = ${details}`;
}

/** Converts e.g. `NOT_FOUND` to `NotFound`, which is the format of Go's gRPC. */
const toPascalCase = (name: string): string =>
  name.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
