/** A test API server in memory, and clients of it on the clock of a test. */

import { PodCache } from '../../actors/cluster/pods/podCache.ts';
import type { ObjectSettings } from '../../actors/objects/clusterObjects.ts';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/time/clock.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../../kubeclient/transport.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import { Api } from '../../testing/apiserver/api.ts';
import type { ApiResponse, User } from '../../testing/apiserver/requests/request.ts';
import { connectionRefused } from './toldTransport.ts';

const ADMIN: User = { name: 'admin', groups: ['system:masters'] };
const nodeUser = (name: string): User => ({ name: `system:node:${name}`, groups: ['system:nodes'] });

/** A transport that sends requests to an API server in memory. */
export class MemoryTransport implements KubeTransport {
  /** All requests, in order. */
  readonly requests: KubeRequest[] = [];
  /**
   * Whether the server is unreachable, so that every request is refused. Open watches remain open until `cut` is
   * called.
   */
  isAway = false;
  /** Number of times that the client has reset its connections. */
  resets = 0;
  readonly #api: Pick<Api, 'respond'>;
  readonly #user: User;
  readonly #cuts = new Set<() => void>();

  constructor(api: Pick<Api, 'respond'>, user: User) {
    this.#api = api;
    this.#user = user;
  }

  async send(request: KubeRequest, { signal }: { readonly signal: AbortSignal }): Promise<KubeResponse> {
    this.requests.push(request);
    if (this.isAway) throw connectionRefused();
    const { method, path: url, headers, body = '' } = request;
    const apiRequest = { method, url, headers: new Map(Object.entries(headers)), body, user: this.#user };
    const response = await unlessAborted(this.#api.respond(apiRequest), signal);
    return { code: response.code, headers: response.headers, body: this.#bodyOf(response, signal) };
  }

  reset(): void {
    this.resets += 1;
    this.cut();
  }

  close(): void {
    this.cut();
  }

  /** Breaks all watches. */
  cut(): void {
    for (const cut of [...this.#cuts]) cut();
  }

  async *#bodyOf(response: ApiResponse, signal: AbortSignal): AsyncGenerator<string> {
    if ('body' in response) {
      yield String(response.body);
      return;
    }
    const lines: string[] = [];
    let end: 'end' | Error | undefined;
    let wake = () => {};
    const ended = (how: 'end' | Error) => {
      end ??= how;
      wake();
    };
    const cut = () => ended(new Error('read ECONNRESET'));
    this.#cuts.add(cut);
    const onAbort = () => ended(new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
    const stop = response.start(
      (line) => {
        lines.push(line);
        wake();
      },
      () => ended('end'),
      cut,
    );
    try {
      while (end === undefined || lines.length > 0) {
        const line = lines.shift();
        if (line !== undefined) yield line;
        else
          await new Promise<void>((done) => {
            wake = done;
          });
      }
      if (end !== 'end') throw end;
    } finally {
      this.#cuts.delete(cut);
      stop();
    }
  }
}

export interface Cluster {
  readonly api: Api;
  readonly transport: MemoryTransport;
  /** The client of the node. */
  readonly client: KubeClient;
  readonly pods: PodCache;
  readonly leaseClient: KubeClient;
  readonly host: HostIdentity;
  readonly leaseSeconds: number;
  readonly statusCheckMs: number;
  readonly statusReportMs: number;
  readonly statusImages: number;
  readonly objects: ObjectSettings;
  readonly providerId: string;
  readonly createsNode: boolean;
  readonly attachesByController: boolean;
  /** Sends a request as an administrator. Returns the object of the response, or throws its message. */
  ask(method: string, path: string, body?: object, contentType?: string): Promise<Record<string, unknown>>;
}

export function cluster(clock: Clock, nodeName = 'node-1'): Cluster {
  const api = new Api({ clock, tokens: new Map(), address: '127.0.0.1:6443' });
  const transport = new MemoryTransport(api, nodeUser(nodeName));
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  const ask: Cluster['ask'] = async (method, url, body, contentType = 'application/json') => {
    const headers = new Map([['content-type', contentType]]);
    const response = await api.respond({ method, url, headers, body: body ? JSON.stringify(body) : '', user: ADMIN });
    const object = JSON.parse('body' in response ? String(response.body) : '{}');
    if (response.code >= 400) throw new Error(`${response.code}: ${object.message}`);
    return object;
  };
  const host = {
    machineID: 'm',
    systemUUID: 's',
    bootID: 'b',
    kernelVersion: '6.1.0',
    osImage: 'Debian',
    architecture: 'amd64',
    kubeletVersion: 'v1.36.0+statelet.test',
  };
  const pods = new PodCache();
  return {
    api,
    transport,
    client,
    leaseClient: client,
    pods,
    host,
    leaseSeconds: 40,
    statusCheckMs: 10_000,
    statusReportMs: 300_000,
    statusImages: 50,
    objects: { strategy: 'Watch', syncMs: 60_000 },
    providerId: '',
    createsNode: true,
    attachesByController: true,
    ask,
  };
}
