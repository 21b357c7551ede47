/** The tokens that a request bears: as a header, or as a subprotocol of WebSocket, which browsers cannot add headers to. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** What access looks at, and takes the tokens from. */
export type Bearer = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

/** Who offers a token in a way that is not right is refused. */
export class BadOffer extends Error {}

/** No token of a service account or an identity provider is as long, in characters: longer ones are nobody's. */
const LONGEST_TOKEN = 32 * 1024;
const PREFIX = 'base64url.bearer.authorization.k8s.io.';
const BASE64_URL = /^[\w-]*$/;

/** Of the header `Authorization`; undefined without one that bears a token (`request/bearertoken/bearertoken.go` of apiserver). */
export function bearerToken({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? checked(token) : undefined;
}

/** Undefined without one; throws a `BadOffer` (`request/websocket/protocol.go` of apiserver). */
export function protocolToken(headers: IncomingHttpHeaders): string | undefined {
  if (!asksWebSocket(headers)) return undefined;
  const protocols = protocolsIn(headers);
  const [encoded, ...more] = protocols.filter(isToken).map((each) => each.slice(PREFIX.length));
  if (more.length > 0) throw new BadOffer('more than one token is offered as a subprotocol');
  if (encoded === undefined) return undefined;
  const token = decoded(encoded);
  if (token === '') return undefined;
  // One of them has to be answered, and that must not be the token.
  if (protocols.every(isToken)) throw new BadOffer('no subprotocol is offered beside the token');
  return checked(token);
}

function checked(token: string): string {
  if (token.length > LONGEST_TOKEN) throw new BadOffer(`a token of more than ${LONGEST_TOKEN} characters is offered`);
  return token;
}

function decoded(encoded: string): string {
  const bytes = Buffer.from(encoded, 'base64url');
  const isBase64 = BASE64_URL.test(encoded) && encoded.length % 4 !== 1;
  try {
    if (isBase64) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // It is no text.
  }
  throw new BadOffer('the token that is offered as a subprotocol cannot be decoded');
}

const isToken = (protocol: string): boolean => protocol.startsWith(PREFIX);

const protocolsIn = (headers: IncomingHttpHeaders): string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());

const asksWebSocket = ({ upgrade = '', connection = '' }: IncomingHttpHeaders): boolean =>
  upgrade.toLowerCase() === 'websocket' &&
  connection.split(',').some((each) => each.trim().toLowerCase() === 'upgrade');

/** Takes all tokens out of a request: whoever answers it, and whomever it is passed on to, has no use for them. */
export function stripTokens({ headers, rawHeaders }: Bearer): void {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    if (lower === 'authorization') continue;
    const left = lower === 'sec-websocket-protocol' ? withoutTokens(value) : value;
    if (left !== '' || value === '') kept.push(name, left);
  }
  rawHeaders.splice(0, rawHeaders.length, ...kept);
  delete headers.authorization;
  const left = withoutTokens(headers['sec-websocket-protocol'] ?? '');
  if (left === '') delete headers['sec-websocket-protocol'];
  else headers['sec-websocket-protocol'] = left;
}

/** A header without any stays as it is. */
function withoutTokens(header: string): string {
  const protocols = header.split(',').map((each) => each.trim());
  return protocols.some(isToken) ? protocols.filter((each) => !isToken(each)).join(', ') : header;
}
