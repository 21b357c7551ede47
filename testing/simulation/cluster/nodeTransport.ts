/** The requests of one agent to the API server, which pass the gate of the agent. */

import type { KubeRequest, KubeResponse, KubeTransport } from '../../../kubeclient/transport.ts';
import { attributesOf } from '../../apiserver/authorization/attributes.ts';
import type { User } from '../../apiserver/requests/request.ts';
import { callError } from '../faults/failures.ts';
import type { Gate, OutsideCall } from '../run/gate.ts';
import type { ApiNetwork } from './apiNetwork.ts';
import { ApiRefusal } from './apiRefusal.ts';

interface NodeTransportParts {
  readonly gate: Gate;
  readonly network: Pick<ApiNetwork, 'send' | 'cut'>;
  readonly user: User;
}

export class NodeTransport implements KubeTransport {
  readonly #parts: NodeTransportParts;

  constructor(parts: NodeTransportParts) {
    this.#parts = parts;
  }

  async send(request: KubeRequest, { signal }: { readonly signal: AbortSignal }): Promise<KubeResponse> {
    const { gate, network, user } = this.#parts;
    const { method, path: url, headers, body = '' } = request;
    const apiRequest = { method, url, headers: new Map(Object.entries(headers)), body, user };
    const call = callOf(request);
    try {
      const act = () => gate.withCallSignal(signal, (callSignal) => network.send(apiRequest, callSignal));
      const response = await gate.pass(call, { act, failure: (code) => callError(call, code), signal });
      return { ...response, body: this.#readWhileAlive(response.body) };
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error;
      return { code: error.code, headers: error.headers, body: textOf(error.body) };
    }
  }

  reset(): void {
    if (!this.#parts.gate.isClosed) this.#parts.network.cut();
  }

  close(): void {}

  /** Yields the body until the agent dies, and then never returns. */
  async *#readWhileAlive(body: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of body) {
      if (this.#parts.gate.isClosed) return await new Promise<never>(() => {});
      yield piece;
    }
  }
}

async function* textOf(text: string): AsyncGenerator<string> {
  yield text;
}

/** Returns the call of a request, whose name is e.g. `patch pods/status`. */
function callOf({ method, path }: KubeRequest): OutsideCall {
  const url = new URL(path, 'https://kubernetes.default.svc');
  const attributes = attributesOf(method, url);
  const { resource = '', subresource = '' } = 'resource' in attributes ? attributes : {};
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  return { target: 'api', name: `${attributes.verb} ${what}`, about: url.pathname, writes: method !== 'GET' };
}
