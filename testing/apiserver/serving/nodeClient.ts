/** Asks the servers of nodes as a kube-apiserver does: over TLS, with a client certificate of its own. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as ask, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { NodePlace } from '../connect/forward.ts';
import type { Authority } from './authority.ts';

export interface NodeClientOptions {
  /** Whether a node's certificate has to be one that the cluster's own authority has signed; false when absent. */
  readonly checkCertificates?: boolean;
  /** By which addresses nodes are reached, the best first; as kubeadm sets it when absent: `InternalIP`, `ExternalIP`, `Hostname`. */
  readonly addressTypes?: readonly string[];
}

interface NodeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

export interface NodeAnswer {
  readonly response: IncomingMessage;
  /** The connection, where it was upgraded. */
  readonly socket?: Duplex;
  /** What has come behind the answer. */
  readonly head: Buffer;
}

/** Rejects with what keeps the node from being reached. */
export type AskNode = (node: NodePlace, request: NodeRequest) => Promise<NodeAnswer>;

const SELF = { name: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };
const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname'];
/** As long as a kube-apiserver takes to give up a connection, in milliseconds. */
const CONNECT_MS = 30_000;

export function nodeClient(
  authority: Authority,
  { checkCertificates = false, addressTypes = ADDRESS_TYPES }: NodeClientOptions = {},
): AskNode {
  const own = { ...authority.issue(SELF), rejectUnauthorized: checkCertificates, ca: authority.cert };
  return ({ addresses, port, name }, { method, path, headers, body, signal }) => {
    const type = addressTypes.find((each) => addresses.has(each));
    const host = type && addresses.get(type);
    if (!host) return Promise.reject(new Error(`no preferred addresses found for node ${name}`));
    const options = { ...own, host, port, method, path, headers, agent: false, signal };
    return answerTo(options, body);
  };
}

function answerTo(options: RequestOptions, body: string | Uint8Array = ''): Promise<NodeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<NodeAnswer>();
  const asked = ask({ ...options, timeout: CONNECT_MS });
  asked.on('error', reject);
  const late = () => asked.destroy(new Error(`dial tcp ${options.host}:${options.port}: i/o timeout`));
  asked.on('timeout', late);
  asked.on('socket', (socket) => socket.once('secureConnect', () => asked.off('timeout', late)));
  asked.on('upgrade', (response, socket, head) => {
    // It tells of its own.
    socket.on('error', () => {});
    resolve({ response, socket, head });
  });
  asked.on('response', (response) => resolve({ response, head: Buffer.alloc(0) }));
  asked.end(body);
  return promise;
}
