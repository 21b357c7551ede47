/**
 * Sends one GET over a new connection and reads the response. Node's client supports far more (request bodies,
 * keep-alive, streams) at twice the CPU time, which would dominate the cost of hundreds of probes per second.
 */
import { domainToASCII } from 'node:url';
import { messageOf } from '../../../base/failure.ts';
import { quotedText } from '../../../base/text/quotedText.ts';
import { readFailureMessage } from './dialError.ts';
import { decodeUtf8, type GoUrl } from './goUrl.ts';
import { appendChunk, type HttpHead, type HttpResponse, type IncomingData, readResponse } from './httpResponse.ts';
import type { Network } from './network.ts';

/** Keyed by lowercase name. */
export type HttpHeaders = ReadonlyMap<string, readonly string[]>;

export interface ExchangeOptions {
  readonly network: Pick<Network, 'connect'>;
  readonly signal: AbortSignal;
  /** Returns the number of bytes of the body to read. */
  readonly bodyLimit: (head: HttpHead) => number;
}

/** A response whose body could not be read. */
export class BodyFailure extends Error {}

/** Returns the host and port to dial for a URL. The scheme implies the default port. */
export function dialTarget(url: GoUrl): { readonly host: string; readonly port: number } {
  const port = Number(url.port) || (url.fields.scheme === 'https' ? 443 : 80);
  return { host: decodeUtf8(url.hostname), port };
}

/**
 * Sends the request and reads the response. Rejects with a `BodyFailure`, or with an error of the request, the
 * connection or the head of the response.
 */
export function exchangeHttp(
  url: GoUrl,
  headers: HttpHeaders,
  { network, signal, bodyLimit }: ExchangeOptions,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const request = formatRequest(url, headers);
    const incomingData: IncomingData = { bytes: Buffer.alloc(0), hasEnded: false, inBody: false };
    const responseParser = readResponse(incomingData, bodyLimit);
    const close = () => {
      signal.removeEventListener('abort', abort);
      connection.destroy();
    };
    const failExchange = (error: unknown) => {
      close();
      reject(incomingData.inBody ? createBodyFailure(error) : error);
    };
    const abort = () => failExchange(signal.reason);
    const advanceParser = () => {
      try {
        const { done, value } = responseParser.next();
        if (!done) return;
        close();
        resolve(value);
      } catch (error) {
        failExchange(error);
      }
    };
    const endpoint = { ...dialTarget(url), isSecure: url.fields.scheme === 'https' };
    const connection = network.connect(endpoint, {
      onData: (chunk) => {
        appendChunk(incomingData, chunk);
        advanceParser();
      },
      onEnd: () => {
        incomingData.hasEnded = true;
        advanceParser();
      },
      onError: failExchange,
    });
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    connection.write(request);
  });
}

function createBodyFailure(cause: unknown): BodyFailure {
  return new BodyFailure(readFailureMessage(cause) ?? messageOf(cause), { cause });
}

/** Headers that the client itself sets and that a probe cannot override (`reqWriteExcludeHeader` in Go's net/http). */
const EXCLUDED_HEADERS = new Set([
  'host',
  'user-agent',
  'connection',
  'content-length',
  'transfer-encoding',
  'trailer',
]);

/** Returns the request as Go's net/http writes it. */
function formatRequest(url: GoUrl, headers: HttpHeaders): string {
  const lines = [`GET ${decodeUtf8(url.requestTarget)} HTTP/1.1`, `Host: ${formatHostHeader(url, headers)}`];
  const userAgent = headers.get('user-agent')?.[0] ?? '';
  if (userAgent !== '') lines.push(`User-Agent: ${requireSafeHeader('User-Agent', userAgent)}`);
  for (const [key, values] of headers) {
    if (EXCLUDED_HEADERS.has(key)) continue;
    const name = key.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
    for (const value of values) lines.push(`${name}: ${requireSafeHeader(name, value)}`);
  }
  const { user } = url.fields;
  if (user !== undefined && !headers.has('authorization')) {
    const credentials = Buffer.from(`${user.name}:${user.password ?? ''}`, 'latin1').toString('base64');
    lines.push(`Authorization: Basic ${credentials}`);
  }
  return `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
}

/**
 * Returns the value of the Host header. Like Go, replaces an invalid value with an empty string, encodes
 * internationalized names in Punycode and omits the zone of an IPv6 address.
 */
function formatHostHeader(url: GoUrl, headers: HttpHeaders): string {
  const host = headers.get('host')?.[0] || decodeUtf8(url.fields.host);
  const [, name = host, port = ''] = /^(.*?)(:[0-9]*)?$/s.exec(host) ?? [];
  const asciiName = /^\p{ASCII}*$/u.test(name) ? name : domainToASCII(name);
  if (!/^[A-Za-z0-9!$%&'()*+,.:;=[\]_~-]*$/.test(asciiName)) return '';
  return asciiName.replace(/%[^\]]*\]$/, ']') + port;
}

/** Returns the value, or throws if the name or value could inject a header. */
function requireSafeHeader(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) throw new Error(`net/http: invalid header field name ${quotedText(name)}`);
  // Only ASCII control characters matter, because the bytes of all other characters have higher values.
  if (/(?![\t\x80-\x9f])\p{Cc}/u.test(value))
    throw new Error(`net/http: invalid header field value for ${quotedText(name)}`);
  return value;
}
