/** Sends the GET of a probe or hook as a kubelet would: no proxy, no reuse of connections, no look at certificates. */
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Container, LifecycleHandler } from '../../pod/schema/container.ts';
import { KUBERNETES_VERSION } from '../../pod/version.ts';
import { addressOf, codeOf, dialFailure } from './dialWords.ts';
import { handlerPort } from './handlerTarget.ts';

export type HttpGetAction = NonNullable<LifecycleHandler['httpGet']>;

export interface HttpTarget {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
}

export interface HttpAnswer {
  readonly status: number;
  /** At most 10 KiB of it. */
  readonly body: string;
}

export interface HttpOptions {
  readonly signal: AbortSignal;
  /** Whether a redirect to another host is followed. */
  readonly leavesHost: boolean;
}

const BODY_BYTES = 10 * 1024;
const REDIRECTS = 10;

const plain = new Agent({ keepAlive: false });
const secure = new SecureAgent({ keepAlive: false, rejectUnauthorized: false, maxCachedSessions: 0 });

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
  return {
    url,
    headers: Object.fromEntries([...headers].map(([key, values]) => [key, values.length > 1 ? values : values[0]])),
  };
}

/** The answer after all redirects that may be followed; a failed request rejects with the words of a kubelet. */
export async function httpGet({ url, headers }: HttpTarget, { signal, leavesHost }: HttpOptions): Promise<HttpAnswer> {
  let at = url;
  for (let seen = 1; ; seen += 1) {
    const response = await sent(at, at === url ? headers : withoutHost(headers), signal).catch((error: Error) => {
      throw new Error(`Get "${textOf(at)}": ${wordsOf(error, at, signal)}`, { cause: error });
    });
    const next = redirectOf(response, at);
    if (next === undefined || (next.hostname !== url.hostname && !leavesHost)) {
      return { status: response.statusCode ?? 0, body: await bodyOf(response, signal) };
    }
    response.destroy();
    if (seen >= REDIRECTS) throw new Error(`Get "${textOf(next)}": stopped after ${REDIRECTS} redirects`);
    at = next;
  }
}

const withoutHost = ({ host: _given, ...headers }: OutgoingHttpHeaders): OutgoingHttpHeaders => headers;

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);
const textOf = (url: URL): string =>
  `${url.protocol}//${addressOf(hostOf(url), portOf(url))}${url.pathname}${url.search}`;

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  return URL.parse(location, from.href) ?? undefined;
}

function sent(url: URL, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<IncomingMessage> {
  const [host, port] = [hostOf(url), portOf(url)];
  const path = `${url.pathname}${url.search}`;
  const options = { host, port, path, headers: { host: addressOf(host, port), ...headers }, signal };
  // The name that a certificate is asked for is that of the host, whatever the Host header says.
  const named = { servername: isIP(host) === 0 ? host : '', agent: secure };
  return new Promise((resolve, reject) => {
    const call =
      url.protocol === 'https:' ? secureRequest({ ...options, ...named }) : request({ ...options, agent: plain });
    call.on('response', resolve);
    call.on('error', reject);
    call.end();
  });
}

async function bodyOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= BODY_BYTES) break;
    }
  } catch (error) {
    const words = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
    throw new BodyFailure(signal.aborted ? words : 'unexpected EOF', { cause: error });
  }
  return Buffer.concat(chunks).subarray(0, BODY_BYTES).toString('utf8');
}

/** An answer came, and its body could not be read. */
export class BodyFailure extends Error {}

/** Whether an answer without TLS came where one with it was asked for. */
export const isAnsweredInPlain = (failure: unknown): boolean =>
  failure instanceof Error && IN_PLAIN.includes(codeOf(failure.cause));

const IN_PLAIN = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

function wordsOf(error: Error, url: URL, signal: AbortSignal): string {
  if (signal.aborted) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  const code = codeOf(error);
  if (IN_PLAIN.includes(code)) return 'http: server gave HTTP response to HTTPS client';
  const dialed = dialFailure(error, hostOf(url), portOf(url));
  if (dialed !== undefined) return dialed;
  const { message } = error;
  if (message === 'socket hang up') return 'EOF';
  if (code === 'ECONNRESET') return 'read: connection reset by peer';
  return code.startsWith('HPE_') ? `net/http: HTTP/1.x transport connection broken: ${message}` : message;
}
