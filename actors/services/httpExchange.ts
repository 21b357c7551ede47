/**
 * One GET over a connection of its own, and its answer. Node's own client does far more (bodies to send, connections
 * kept, streams), at twice the processor time: of a node's hundreds of probes a second that is most of the cost.
 */
import { messageOf } from '../../pod/failure.ts';
import { quoted } from '../../pod/show/quoted.ts';
import { addressOf, readFailure } from './dialError.ts';
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

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);
/** The host and port that are dialed for a URL: itself it keeps silent about a port that its scheme implies. */
export const dialedOf = (url: URL): string => addressOf(hostOf(url), portOf(url));

/** Rejects with a `BodyFailure`, or with what is wrong with the request, the connection or the head of the answer. */
export function exchange(
  url: URL,
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
    const endpoint = { host: hostOf(url), port: portOf(url), isSecure: url.protocol === 'https:' };
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

/** What the client itself says, or says nothing of, whatever is asked for. */
const OWN = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'trailer']);

function requestOf(url: URL, headers: HttpHeaders): string {
  const host = headers.get('host')?.[0] ?? dialedOf(url);
  const lines = [`GET ${url.pathname}${url.search} HTTP/1.1`, `Host: ${clean('Host', host)}`];
  for (const [key, values] of headers) {
    if (OWN.has(key)) continue;
    const name = key.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
    for (const value of values) lines.push(`${name}: ${clean(name, value)}`);
  }
  return `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
}

/** A name or value that cannot end its line. */
function clean(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) throw new Error(`net/http: invalid header field name ${quoted(name)}`);
  // Those of ASCII: the bytes of any other character are above them.
  if (/(?![\t\x80-\x9f])\p{Cc}/u.test(value))
    throw new Error(`net/http: invalid header field value for ${quoted(name)}`);
  return value;
}
