/**
 * Connects over the host's network. Probes and hooks refuse TLS renegotiation, like the connections to the API server.
 * `fetch`, which is used only to read manifests from URLs, has no option for this, so a renegotiation is accepted
 * within the timeout of the request.
 */
import { constants } from 'node:crypto';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, createSecureContext, type SecureContext } from 'node:tls';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import { joinHostPort } from './dialError.ts';
import type { GrpcTarget, HealthOptions, HealthResult, Network, NetworkEndpoint } from './network.ts';

export const hostNetwork: Network = {
  connect: (endpoint, { onConnect, onData, onEnd, onError }) => {
    const socket = openSocket(endpoint);
    if (onConnect !== undefined) socket.once('connect', onConnect);
    if (onData !== undefined) socket.on('data', onData);
    if (onEnd !== undefined) socket.once('end', onEnd);
    return socket.on('error', onError);
  },
  checkHealth,
  fetch: (url, options) => fetch(url, options),
};

/** The TLS context, created on first use and shared, because creating a context takes longer than connecting. */
let secureContext: SecureContext | undefined;

function openSocket({ host, port, isSecure }: NetworkEndpoint): Socket {
  if (!isSecure) return connect({ host, port });
  // The TLS server name is the URL's host, regardless of the Host header.
  const serverName = isIP(host) === 0 ? host : '';
  // Forbid renegotiation, as Go's client does (`RenegotiateNever`), because a server could use it to consume the node's
  // CPU time.
  secureContext ??= createSecureContext({ secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
  return connectSecurely({ host, port, servername: serverName, secureContext, rejectUnauthorized: false });
}

const CHECK_METHOD = '/grpc.health.v1.Health/Check';

async function checkHealth({ host, port, service }: GrpcTarget, options: HealthOptions): Promise<HealthResult> {
  const { deadline, signal } = options;
  const client = new Client(joinHostPort(host, port), credentials.createInsecure(), {
    'grpc.primary_user_agent': `kube-probe/${KUBERNETES_VERSION}`,
    'grpc.enable_http_proxy': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
  });
  const abortPromise = Promise.withResolvers<false>();
  const abort = () => abortPromise.resolve(false);
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (!(await Promise.race([waitUntilConnected(client, deadline), abortPromise.promise]))) return 'unconnected';
    return (await Promise.race([sendCheck(client, service, deadline), abortPromise.promise])) || 'incomplete';
  } finally {
    signal.removeEventListener('abort', abort);
    client.close();
  }
}

const waitUntilConnected = (client: Client, deadline: number): Promise<boolean> =>
  new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(error === undefined)));

function sendCheck(client: Client, service: string, deadline: number): Promise<HealthResult> {
  return new Promise((resolve) => {
    const onResponse = (error: ServiceError | null, served = 0) => {
      resolve(error ? { code: error.code, details: error.details } : { served });
    };
    client.makeUnaryRequest(CHECK_METHOD, encodeCheckRequest, decodeServingStatus, service, { deadline }, onResponse);
  });
}

/** Encodes a HealthCheckRequest, whose field 1 is the service. */
function encodeCheckRequest(service: string): Buffer {
  return Buffer.from(new BinaryWriter().uint32(10).string(service).finish());
}

/** Returns the status, which is field 1 of a HealthCheckResponse. */
function decodeServingStatus(bytes: Buffer): number {
  const responseReader = new BinaryReader(bytes);
  let servingStatus = 0;
  while (responseReader.pos < responseReader.len) {
    const tag = responseReader.uint32();
    if (tag === 8) servingStatus = responseReader.int32();
    else responseReader.skip(tag & 7);
  }
  return servingStatus;
}
