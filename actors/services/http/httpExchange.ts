/**
 * One GET over a connection of its own, and its answer. Node's own client does far more (bodies to send, connections
 * kept, streams), at twice the processor time: of a node's hundreds of probes a second that is most of the cost.
 */
import { domainToASCII } from 'node:url';
import { messageOf } from '../../../base/failure.ts';
import { quoted } from '../../../base/quoted.ts';
import { readFailure } from './dialError.ts';
import { type GoUrl, textOfBytes } from './goUrl.ts';
import { append, type HttpAnswer, type HttpHead, type Incoming, readAnswer } from './httpAnswer.ts';
import type { Network } from './network.ts';

/** By their names in lower case. */
export type HttpHeaders = ReadonlyMap<string, readonly string[]>;

export interface ExchangeOptions {
  readonly network: Pick<Network, 'connect'>;
  readonly signal: AbortSignal;
  /** How many bytes of the body are read. */
  readonly wanted: (head: HttpHead) => number;
}

/** An answer came, and its body could not be read. */
export class BodyFailure extends Error {}

/** Returns the host and port to dial for a URL; the scheme implies a port that is not written. */
export function dialTarget(url: GoUrl): { readonly host: string; readonly port: number } {
  const port = Number(url.port) || (url.fields.scheme === 'https' ? 443 : 80);
  return { host: textOfBytes(url.hostname), port };
}

/** Rejects with a `BodyFailure`, or with what is wrong with the request, the connection or the head of the answer. */
export function exchange(
  url: GoUrl,
  headers: HttpHeaders,
  { network, signal, wanted }: ExchangeOptions,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = requestOf(url, headers);
    const incoming: Incoming = { bytes: Buffer.alloc(0), ended: false, inBody: false };
    const reading = readAnswer(incoming, wanted);
    const end = () => {
      signal.removeEventListener('abort', giveUp);
      connection.destroy();
    };
    const fail = (error: unknown) => {
      end();
      reject(incoming.inBody ? bodyFailure(error) : error);
    };
    const giveUp = () => fail(signal.reason);
    const goOn = () => {
      try {
        const { done, value } = reading.next();
        if (!done) return;
        end();
        resolve(value);
      } catch (error) {
        fail(error);
      }
    };
    const endpoint = { ...dialTarget(url), isSecure: url.fields.scheme === 'https' };
    const connection = network.connect(endpoint, {
      onData: (chunk) => {
        append(incoming, chunk);
        goOn();
      },
      onEnd: () => {
        incoming.ended = true;
        goOn();
      },
      onError: fail,
    });
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    connection.write(request);
  });
}

function bodyFailure(cause: unknown): BodyFailure {
  return new BodyFailure(readFailure(cause) ?? messageOf(cause), { cause });
}

/** Headers that the client writes itself, whatever a probe says (`reqWriteExcludeHeader` in Go's net/http). */
const EXCLUDED = new Set(['host', 'user-agent', 'connection', 'content-length', 'transfer-encoding', 'trailer']);

/** Returns the text of a request, as Go's net/http writes it. */
function requestOf(url: GoUrl, headers: HttpHeaders): string {
  const lines = [`GET ${textOfBytes(url.requestTarget)} HTTP/1.1`, `Host: ${hostHeader(url, headers)}`];
  const userAgent = headers.get('user-agent')?.[0] ?? '';
  if (userAgent !== '') lines.push(`User-Agent: ${clean('User-Agent', userAgent)}`);
  for (const [key, values] of headers) {
    if (EXCLUDED.has(key)) continue;
    const name = key.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
    for (const value of values) lines.push(`${name}: ${clean(name, value)}`);
  }
  const { user } = url.fields;
  if (user !== undefined && !headers.has('authorization')) {
    const credentials = Buffer.from(`${user.name}:${user.password ?? ''}`, 'latin1').toString('base64');
    lines.push(`Authorization: Basic ${credentials}`);
  }
  return `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
}

/**
 * Returns the value of the Host header. Like Go, sends an empty one instead of a value that no Host can have, turns names
 * of other scripts into Punycode and leaves out the zone of an IPv6 address.
 */
function hostHeader(url: GoUrl, headers: HttpHeaders): string {
  const host = headers.get('host')?.[0] || textOfBytes(url.fields.host);
  const [, name = host, port = ''] = /^(.*?)(:[0-9]*)?$/s.exec(host) ?? [];
  const ascii = /^\p{ASCII}*$/u.test(name) ? name : domainToASCII(name);
  if (!/^[A-Za-z0-9!$%&'()*+,.:;=[\]_~-]*$/.test(ascii)) return '';
  return ascii.replace(/%[^\]]*\]$/, ']') + port;
}

/** A name or value that cannot end its line. */
function clean(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) throw new Error(`net/http: invalid header field name ${quoted(name)}`);
  // Those of ASCII: the bytes of any other character are above them.
  if (/(?![\t\x80-\x9f])\p{Cc}/u.test(value))
    throw new Error(`net/http: invalid header field value for ${quoted(name)}`);
  return value;
}
