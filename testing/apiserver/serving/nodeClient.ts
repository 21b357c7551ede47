/** Sends requests to kubelets over TLS with a client certificate of the server. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { NodeAddress } from '../connect/forward.ts';
import type { Authority } from './authority.ts';

export interface NodeClientOptions {
  /** Whether the kubelet's certificate must be signed by the cluster's authority. Default: false. */
  readonly checkCertificates?: boolean;
  /**
   * The preferred address types, best first. The default is that of kubeadm: `InternalIP`, `ExternalIP`, `Hostname`.
   */
  readonly addressTypes?: readonly string[];
}

interface NodeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

export interface NodeResponse {
  readonly response: IncomingMessage;
  /** The connection, if it was upgraded. */
  readonly socket?: Duplex;
  /** The bytes received after the response headers. */
  readonly head: Buffer;
}

/** Sends a request to a node's kubelet. Rejects with the reason if it cannot be reached. */
export type SendToNode = (node: NodeAddress, request: NodeRequest) => Promise<NodeResponse>;

const SELF = { name: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };
const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname'];
/** Connection timeout of the kube-apiserver, in milliseconds. */
const CONNECT_MS = 30_000;

export function nodeClient(
  authority: Authority,
  { checkCertificates = false, addressTypes = ADDRESS_TYPES }: NodeClientOptions = {},
): SendToNode {
  const own = { ...authority.issue(SELF), rejectUnauthorized: checkCertificates, ca: authority.cert };
  return ({ addresses, port, name }, { method, path, headers, body, signal }) => {
    const type = addressTypes.find((each) => addresses.has(each));
    const host = type && addresses.get(type);
    if (!host) return Promise.reject(new Error(`no preferred addresses found for node ${name}`));
    const options = { ...own, host, port, method, path, headers, agent: false, signal };
    return sendRequest(options, body);
  };
}

function sendRequest(options: RequestOptions, body: string | Uint8Array = ''): Promise<NodeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<NodeResponse>();
  const clientRequest = httpsRequest({ ...options, timeout: CONNECT_MS });
  clientRequest.on('error', reject);
  const onTimeout = () => clientRequest.destroy(new Error(`dial tcp ${options.host}:${options.port}: i/o timeout`));
  clientRequest.on('timeout', onTimeout);
  clientRequest.on('socket', (socket) => socket.once('secureConnect', () => clientRequest.off('timeout', onTimeout)));
  clientRequest.on('upgrade', (response, socket, head) => {
    // The caller handles errors and the end of the connection.
    socket.on('error', () => {});
    resolve({ response, socket, head });
  });
  clientRequest.on('response', (response) => resolve({ response, head: Buffer.alloc(0) }));
  clientRequest.end(body);
  return promise;
}
