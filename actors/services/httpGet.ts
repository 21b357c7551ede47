/** Sends the GET of a probe or hook as a kubelet would: no proxy, no reuse of connections, no look at certificates. */

import type { Container, LifecycleHandler } from '../../pod/api/schema/container.ts';
import { KUBERNETES_VERSION } from '../../pod/api/version.ts';
import { quoted } from '../../pod/show/quoted.ts';
import { addressOf, codeOf, dialFailure, readFailure } from './dialError.ts';
import { handlerPort } from './handlerTarget.ts';
import type { HttpHead } from './httpAnswer.ts';
import {
  BodyFailure,
  dialedOf,
  type ExchangeOptions,
  exchange,
  type HttpHeaders,
  hostOf,
  portOf,
} from './httpExchange.ts';

export type HttpGetAction = NonNullable<LifecycleHandler['httpGet']>;

export interface HttpTarget {
  readonly url: URL;
  readonly headers: HttpHeaders;
}

export interface HttpResult {
  readonly status: number;
  /** At most 10 KiB of it. */
  readonly body: string;
}

export interface HttpOptions extends Pick<ExchangeOptions, 'network'> {
  readonly signal: AbortSignal;
  /** Whether a redirect to another host is followed. */
  readonly leavesHost: boolean;
}

const BODY_BYTES = 10 * 1024;
const REDIRECTS = 10;
const SCHEMES = ['http:', 'https:'];

/** What an action asks for; throws when its port is none. `purpose` is what the request is for, as its agent's name says. */
export function httpTarget(
  { scheme, host, port, path = '', httpHeaders = [] }: HttpGetAction,
  container: Container,
  { address, purpose }: { readonly address: string; readonly purpose: 'probe' | 'lifecycle' },
): HttpTarget {
  const at = addressOf(host || address, handlerPort(container, port));
  const url = new URL(`${scheme === 'HTTPS' ? 'https' : 'http'}://${at}${path.startsWith('/') ? '' : '/'}${path}`);
  const headers = new Map<string, string[]>();
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase();
    // Only one Host can be sent: the first.
    if (key !== 'host' || !headers.has(key)) headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  if (!headers.has('user-agent')) headers.set('user-agent', [`kube-${purpose}/${KUBERNETES_VERSION}`]);
  if (!headers.has('accept')) headers.set('accept', ['*/*']);
  // An Accept that is set to nothing is not sent, nor is an empty Host.
  for (const key of ['accept', 'host']) if (headers.get(key)?.[0] === '') headers.delete(key);
  return { url, headers };
}

/** The answer after all redirects that may be followed; a failed request rejects with the words of a kubelet. */
export async function httpGet({ url, headers }: HttpTarget, given: HttpOptions): Promise<HttpResult> {
  const { network, signal, leavesHost } = given;
  let at = url;
  for (let seen = 1; ; seen += 1) {
    const nextOf = (head: HttpHead): URL | undefined => {
      const next = redirectOf(head, at);
      return next && (next.hostname === url.hostname || leavesHost) ? next : undefined;
    };
    const options = { network, signal, wanted: (head: HttpHead) => (nextOf(head) ? 0 : BODY_BYTES) };
    const answer = await exchange(at, at === url ? headers : withoutHost(headers), options).catch((error: Error) => {
      if (error instanceof BodyFailure) throw signal.aborted ? new BodyFailure(LATE_BODY, { cause: error }) : error;
      throw new Error(`Get "${textOf(at)}": ${wordsOf(error, at, signal)}`, { cause: error });
    });
    const next = nextOf(answer);
    if (next === undefined) return { status: answer.status, body: answer.body.toString('utf8') };
    if (seen >= REDIRECTS) throw new Error(`Get "${textOf(next)}": stopped after ${REDIRECTS} redirects`);
    if (!SCHEMES.includes(next.protocol)) {
      const scheme = next.protocol.slice(0, -1);
      throw new Error(`Get "${next.href}": unsupported protocol scheme ${quoted(scheme)}`);
    }
    at = next;
  }
}

const LATE_BODY = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

const withoutHost = (headers: HttpHeaders): HttpHeaders => new Map([...headers].filter(([name]) => name !== 'host'));

const textOf = (url: URL): string => `${url.protocol}//${dialedOf(url)}${url.pathname}${url.search}`;

function redirectOf({ status, headers }: HttpHead, from: URL): URL | undefined {
  const location = headers.get('location');
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  return URL.parse(location, from.href) ?? undefined;
}

/** Whether an answer without TLS came where one with it was asked for. */
export const isAnsweredInPlain = (failure: unknown): boolean =>
  failure instanceof Error && IN_PLAIN.includes(codeOf(failure.cause));

const IN_PLAIN = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

function wordsOf(error: Error, url: URL, signal: AbortSignal): string {
  if (signal.aborted) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  const code = codeOf(error);
  if (IN_PLAIN.includes(code)) return 'http: server gave HTTP response to HTTPS client';
  return dialFailure(error, hostOf(url), portOf(url)) ?? readFailure(error) ?? error.message;
}
