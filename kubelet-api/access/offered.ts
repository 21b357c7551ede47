/**
 * Extracts tokens from a request's headers. Browsers send a token as a WebSocket subprotocol, because they cannot add
 * headers to a WebSocket request.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The part of a request from which tokens are read and removed. */
export type TokenHeaders = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

/** Thrown if the request contains a malformed token. */
export class BadOffer extends Error {}

/**
 * Maximum length of a token, in characters. Longer tokens are rejected. Tokens of service accounts and identity
 * providers are shorter.
 */
const MAX_TOKEN_LENGTH = 32 * 1024;
const TOKEN_PREFIX = 'base64url.bearer.authorization.k8s.io.';
const BASE64_URL_PATTERN = /^[\w-]*$/;

/**
 * Reads the `Authorization` header. Returns undefined if it has no bearer token (`request/bearertoken/bearertoken.go`
 * of apiserver).
 */
export function bearerToken({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? checkTokenLength(token) : undefined;
}

/**
 * Reads the token from the WebSocket subprotocols, or returns undefined if there is none. Throws `BadOffer` if the
 * token is malformed (`request/websocket/protocol.go` of apiserver).
 */
export function protocolToken(headers: IncomingHttpHeaders): string | undefined {
  if (!isWebSocketUpgrade(headers)) return undefined;
  const protocols = parseProtocols(headers);
  const [encoded, ...more] = protocols.filter(isTokenProtocol).map((each) => each.slice(TOKEN_PREFIX.length));
  if (more.length > 0) throw new BadOffer('more than one token is offered as a subprotocol');
  if (encoded === undefined) return undefined;
  const token = decodeToken(encoded);
  if (token === '') return undefined;
  // Refuse a request that offers nothing but tokens, because the server must select one of the offered subprotocols and
  // must not select a token.
  if (protocols.every(isTokenProtocol)) throw new BadOffer('no subprotocol is offered beside the token');
  return checkTokenLength(token);
}

function checkTokenLength(token: string): string {
  if (token.length > MAX_TOKEN_LENGTH)
    throw new BadOffer(`a token of more than ${MAX_TOKEN_LENGTH} characters is offered`);
  return token;
}

function decodeToken(encoded: string): string {
  const tokenBytes = Buffer.from(encoded, 'base64url');
  const isBase64 = BASE64_URL_PATTERN.test(encoded) && encoded.length % 4 !== 1;
  try {
    if (isBase64) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(tokenBytes);
  } catch {
    // The token is not valid UTF-8.
  }
  throw new BadOffer('the token that is offered as a subprotocol cannot be decoded');
}

const isTokenProtocol = (protocol: string): boolean => protocol.startsWith(TOKEN_PREFIX);

const parseProtocols = (headers: IncomingHttpHeaders): string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());

const isWebSocketUpgrade = ({ upgrade = '', connection = '' }: IncomingHttpHeaders): boolean =>
  upgrade.toLowerCase() === 'websocket' &&
  connection.split(',').some((each) => each.trim().toLowerCase() === 'upgrade');

/** Removes all tokens from a request, because tokens must not reach the route or the runtime. */
export function stripTokens({ headers, rawHeaders }: TokenHeaders): void {
  const remainingHeaders: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lowerCaseName = name.toLowerCase();
    if (lowerCaseName === 'authorization') continue;
    const remainingValue = lowerCaseName === 'sec-websocket-protocol' ? removeTokens(value) : value;
    if (remainingValue !== '' || value === '') remainingHeaders.push(name, remainingValue);
  }
  rawHeaders.splice(0, rawHeaders.length, ...remainingHeaders);
  delete headers.authorization;
  const remainingProtocols = removeTokens(headers['sec-websocket-protocol'] ?? '');
  if (remainingProtocols === '') delete headers['sec-websocket-protocol'];
  else headers['sec-websocket-protocol'] = remainingProtocols;
}

/** Returns the header value without tokens. A value that contains no tokens is returned unchanged. */
function removeTokens(header: string): string {
  const protocols = header.split(',').map((each) => each.trim());
  return protocols.some(isTokenProtocol) ? protocols.filter((each) => !isTokenProtocol(each)).join(', ') : header;
}
