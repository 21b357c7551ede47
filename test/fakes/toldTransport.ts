/** A transport to an API server whose responses are scripted by the test. */
import { addAbortSignal, PassThrough } from 'node:stream';
import type { KubeRequest, KubeResponse, KubeTransport } from '../../kubeclient/transport.ts';

export type Reply = (signal: AbortSignal) => Promise<KubeResponse>;

export class ToldTransport implements KubeTransport {
  /** All requests, in order. */
  readonly requests: KubeRequest[] = [];
  /** The replies to the next requests. Without one, the connection is refused. */
  readonly replies: Reply[];

  constructor(...replies: readonly Reply[]) {
    this.replies = [...replies];
  }

  async send(request: KubeRequest, { signal }: { readonly signal: AbortSignal }): Promise<KubeResponse> {
    this.requests.push(request);
    const reply = this.replies.shift() ?? unreachable();
    signal.throwIfAborted();
    return await reply(signal);
  }

  reset(): void {}

  close(): void {}
}

/** Returns a response with a body: a string as it is, anything else as JSON. */
export const answered =
  (code: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}): Reply =>
  async () => ({ code, headers: new Map(Object.entries(headers)), body: pieces(body) });

async function* pieces(body: unknown): AsyncGenerator<string> {
  yield typeof body === 'string' ? body : JSON.stringify(body);
}

/** Returns an error response, as an API server words it. */
export const refused = (code: number, reason: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  answered(code, { kind: 'Status', status: 'Failure', reason, message: `${reason} it is`, code }, headers);

/** Returns a reply that refuses the connection. */
export const unreachable = (): Reply => () => Promise.reject(connectionRefused());

export const connectionRefused = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6443'), { code: 'ECONNREFUSED' });

/** Returns a reply that resets the connection. */
export const brokenOff = (): Reply => () =>
  Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));

/** Returns a reply that never arrives. It rejects when the request is aborted. */
export const silent = (): Reply => (signal) =>
  new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason), { once: true }));

/** A watch whose events the test sends. */
export class ToldWatch {
  readonly #body = new PassThrough({ encoding: 'utf8' });

  readonly opened: Reply = async (signal) => {
    addAbortSignal(signal, this.#body);
    return { code: 200, headers: new Map(), body: this.#body };
  };

  tell(type: string, object: object): void {
    this.write(`${JSON.stringify({ type, object })}\n`);
  }

  /** Sends a part of the response, which need not consist of complete lines. */
  write(text: string): void {
    this.#body.write(text);
  }

  end(): void {
    this.#body.end();
  }

  cut(): void {
    this.#body.destroy(new Error('read ECONNRESET'));
  }
}
