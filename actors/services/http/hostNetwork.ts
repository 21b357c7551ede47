/**
 * The host's network. Probes and hooks refuse a TLS renegotiation, as the connections to the API server do. For `fetch`, by
 * which only manifests of a URL are read, Node.js has no such option: a renegotiation is answered, within the timeout of the
 * request.
 */
import { constants } from 'node:crypto';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, createSecureContext, type SecureContext } from 'node:tls';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import { addressOf } from './dialError.ts';
import type { Endpoint, GrpcTarget, HealthAnswer, HealthOptions, Network } from './network.ts';

export const hostNetwork: Network = {
  connect: (endpoint, { onConnect, onData, onEnd, onError }) => {
    const socket = socketTo(endpoint);
    if (onConnect !== undefined) socket.once('connect', onConnect);
    if (onData !== undefined) socket.on('data', onData);
    if (onEnd !== undefined) socket.once('end', onEnd);
    return socket.on('error', onError);
  },
  checkHealth,
  fetch: (url, options) => fetch(url, options),
};

/** Made when it is needed first, and once: it takes longer to make than a connection. */
let secureContext: SecureContext | undefined;

function socketTo({ host, port, isSecure }: Endpoint): Socket {
  if (!isSecure) return connect({ host, port });
  // The name that a certificate is asked for is that of the host, whatever the Host header says.
  const servername = isIP(host) === 0 ? host : '';
  // A server could occupy the node by renegotiating, which Go's client never does (`RenegotiateNever`).
  secureContext ??= createSecureContext({ secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
  return connectSecurely({ host, port, servername, secureContext, rejectUnauthorized: false });
}

const CHECK = '/grpc.health.v1.Health/Check';

async function checkHealth({ host, port, service }: GrpcTarget, options: HealthOptions): Promise<HealthAnswer> {
  const { deadline, signal } = options;
  const client = new Client(addressOf(host, port), credentials.createInsecure(), {
    'grpc.primary_user_agent': `kube-probe/${KUBERNETES_VERSION}`,
    'grpc.enable_http_proxy': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
  });
  const ended = Promise.withResolvers<false>();
  const end = () => ended.resolve(false);
  signal.addEventListener('abort', end, { once: true });
  try {
    if (!(await Promise.race([isConnected(client, deadline), ended.promise]))) return 'unconnected';
    return (await Promise.race([checked(client, service, deadline), ended.promise])) || 'incomplete';
  } finally {
    signal.removeEventListener('abort', end);
    client.close();
  }
}

const isConnected = (client: Client, deadline: number): Promise<boolean> =>
  new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(error === undefined)));

function checked(client: Client, service: string, deadline: number): Promise<HealthAnswer> {
  return new Promise((resolve) => {
    const answer = (error: ServiceError | null, served = 0) => {
      resolve(error ? { code: error.code, details: error.details } : { served });
    };
    client.makeUnaryRequest(CHECK, request, servingStatus, service, { deadline }, answer);
  });
}

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
