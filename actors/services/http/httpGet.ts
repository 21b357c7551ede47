/**
 * Sends the GET of a probe or hook. Like the kubelet, uses a new connection without a proxy and accepts any
 * certificate.
 */

import { messageOf } from '../../../base/failure.ts';
import { quotedText } from '../../../base/text/quotedText.ts';
import type { Container, LifecycleHandler } from '../../../kubernetes/api/schema/container.ts';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import { dialFailureMessage, errorCode, joinHostPort, readFailureMessage } from './dialError.ts';
import { decodeUtf8, GoUrl, quotedBytes } from './goUrl.ts';
import { handlerPort } from './handlerPort.ts';
import { BodyFailure, dialTarget, type ExchangeOptions, exchangeHttp, type HttpHeaders } from './httpExchange.ts';
import type { HttpHead, HttpResponse } from './httpResponse.ts';

export type HttpGetAction = NonNullable<LifecycleHandler['httpGet']>;

export interface HttpTarget {
  readonly url: GoUrl;
  readonly headers: HttpHeaders;
}

export interface HttpResult {
  readonly status: number;
  /** At most the first 10 KiB of the body. The rest is not read. */
  readonly body: string;
}

export type HttpOptions = Pick<ExchangeOptions, 'network' | 'signal'>;

const BODY_BYTES = 10 * 1024;
const MAX_REDIRECTS = 10;

/**
 * Returns the request for an `httpGet` action (`NewRequestForHTTPGetAction` in `pkg/probe/http/request.go`). Throws if
 * the action has no valid port or URL. `purpose` is included in the User-Agent.
 */
export function httpTarget(
  { scheme, host, port, path = '/', httpHeaders = [] }: HttpGetAction,
  container: Container,
  { address, purpose }: { readonly address: string; readonly purpose: 'probe' | 'lifecycle' },
): HttpTarget {
  const hostPort = joinHostPort(host || address, handlerPort(container, port));
  const url = GoUrl.forProbe(scheme === 'HTTPS' ? 'https' : 'http', hostPort, path);
  const headers = new Map<string, string[]>();
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase();
    // Ignore further Host headers, because only one can be sent.
    if (key !== 'host' || !headers.has(key)) headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  if (!headers.has('user-agent')) headers.set('user-agent', [`kube-${purpose}/${KUBERNETES_VERSION}`]);
  if (!headers.has('accept')) headers.set('accept', ['*/*']);
  // The Accept and Host headers are not sent if they are set to an empty string.
  for (const key of ['accept', 'host']) if (headers.get(key)?.[0] === '') headers.delete(key);
  return { url, headers };
}

/**
 * Sends the request and follows redirects on the same host, as Go's client does with the kubelet's `RedirectChecker`
 * (`pkg/probe/http/http.go`). Returns the last response, which may be a redirect to a different host. Rejects with Go's
 * message.
 */
export async function httpGet(target: HttpTarget, { network, signal }: HttpOptions): Promise<HttpResult> {
  let { url, headers } = target;
  for (let sent = 1; ; sent += 1) {
    const request = { url, headers };
    let nextRequest: ReturnType<typeof resolveRedirect>;
    let invalidLocation: Error | undefined;
    const bodyLimit = (head: HttpHead) => {
      try {
        nextRequest = resolveRedirect(head, request, target.url);
      } catch (cause) {
        invalidLocation = new Error(`Get ${quotedText(String(request.url))}: ${messageOf(cause)}`, { cause });
      }
      return nextRequest === undefined && invalidLocation === undefined ? BODY_BYTES : 0;
    };
    const response = await sendRequest(request, { network, signal, bodyLimit });
    if (invalidLocation !== undefined) throw invalidLocation;
    if (nextRequest === undefined) return { status: response.status, body: response.body.toString('utf8') };
    if (sent >= MAX_REDIRECTS) {
      throw new Error(`Get ${quotedBytes(nextRequest.location)}: stopped after ${MAX_REDIRECTS} redirects`);
    }
    ({ url, headers } = nextRequest);
  }
}

async function sendRequest({ url, headers }: HttpTarget, options: ExchangeOptions): Promise<HttpResponse> {
  try {
    assertSendable(url);
    return await exchangeHttp(url, headers, options);
  } catch (cause) {
    const { signal } = options;
    if (cause instanceof BodyFailure) throw signal.aborted ? new BodyFailure(BODY_TIMEOUT, { cause }) : cause;
    throw new Error(`Get ${quotedText(String(url))}: ${formatGoMessage(cause, url, signal)}`, { cause });
  }
}

function assertSendable({ fields: { scheme, host } }: GoUrl): void {
  if (scheme !== 'http' && scheme !== 'https') throw new Error(`unsupported protocol scheme ${quotedBytes(scheme)}`);
  if (host === '') throw new Error('http: no Host in request URL');
}

const BODY_TIMEOUT = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

/**
 * Returns the next request if the response is a redirect to follow, with its Location as a byte string. Throws if the
 * Location is not a URL. A custom Host header is sent again unless the Location contains a scheme and therefore a host.
 */
function resolveRedirect(
  { status, headers: responseHeaders }: HttpHead,
  request: HttpTarget,
  firstUrl: GoUrl,
): (HttpTarget & { readonly location: string }) | undefined {
  const locationHeader = responseHeaders.get('location') ?? '';
  if (!REDIRECT_STATUSES.includes(status) || locationHeader === '') return undefined;
  const locationUrl = parseLocation(locationHeader);
  const url = request.url.resolve(locationUrl);
  if (url.hostname !== firstUrl.hostname) return undefined;
  const headers = new Map(request.headers);
  if (locationUrl.isAbsolute) headers.delete('host');
  const refererHeader = formatReferer(request.url, url);
  if (refererHeader !== undefined && !headers.has('referer')) headers.set('referer', [refererHeader]);
  return { url, headers, location: locationHeader };
}

const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

function parseLocation(location: string): GoUrl {
  try {
    return GoUrl.parse(location);
  } catch (cause) {
    throw new Error(`failed to parse Location header ${quotedBytes(location)}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Returns the Referer header of a redirected request, which is the previous URL. Returns undefined if the previous URL
 * was HTTPS and the next one is not.
 */
function formatReferer(last: GoUrl, next: GoUrl): string | undefined {
  if (last.fields.scheme === 'https' && next.fields.scheme === 'http') return undefined;
  return decodeUtf8(last.withoutUser().toBytes());
}

/** Whether the server sent a plain HTTP response to an HTTPS request. */
export const isPlainHttpResponse = (failure: unknown): boolean =>
  failure instanceof Error && PLAIN_RESPONSE_CODES.includes(errorCode(failure.cause));

const PLAIN_RESPONSE_CODES = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

function formatGoMessage(error: unknown, url: GoUrl, signal: AbortSignal): string {
  if (signal.aborted) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  const code = errorCode(error);
  if (PLAIN_RESPONSE_CODES.includes(code)) return 'http: server gave HTTP response to HTTPS client';
  const { host, port } = dialTarget(url);
  return dialFailureMessage(error, host, port) ?? readFailureMessage(error) ?? messageOf(error);
}
