/**
 * Who may look: whoever is on this host, where the address is a loopback one; otherwise whoever has the link, which holds a
 * token. What another site makes a browser ask is refused.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { authorityOf, type InspectAddress, isLoopback, isWildcard } from './address.ts';

/** What the server's own page may load and do, and nothing else. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

interface Guarded {
  /** Where it listens, with the port that it got. */
  readonly address: InspectAddress;
  readonly scheme: 'http' | 'https';
  /** Absent: everyone who reaches the address may look. */
  readonly token?: string | undefined;
}

/** What is refused, under HTTP's code. */
export interface Refusal {
  readonly code: 400 | 401 | 403 | 405;
  readonly message: string;
}

/** Why a request is not answered; undefined where it may be. */
export function refusalOf(request: IncomingMessage, guarded: Guarded): Refusal | undefined {
  const { method = '', headers } = request;
  if (method !== 'GET') return { code: 405, message: `${method} is not supported: nothing can be changed here` };
  // A name that somebody else's DNS gives this address is not ours. Where all addresses are, the token alone tells.
  if (!isWildcard(guarded.address) && !hostsOf(guarded.address).includes(headers.host ?? ''))
    return { code: 403, message: `Host ${quoted(headers.host)} is not the address of this page` };
  if (headers.origin !== undefined && headers.origin !== `${guarded.scheme}://${headers.host}`)
    return { code: 403, message: `Origin ${quoted(headers.origin)} is not this page` };
  if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate')
    return { code: 403, message: 'another site asked for it' };
  if (guarded.token !== undefined && !isToken(tokenIn(request), guarded.token))
    return { code: 401, message: 'open the link that the agent printed: it holds the token for this page' };
  return undefined;
}

const quoted = (text: string | undefined): string => JSON.stringify(text ?? '');

/** The names by which a browser may call an address. */
function hostsOf(address: InspectAddress): string[] {
  const [own, { port }] = [authorityOf(address), address];
  return isLoopback(address) ? [own, `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`] : [own];
}

const COOKIE = 'statelet-token';

/** The cookie that keeps the token once the link was opened. */
export const tokenCookie = (token: string): string => `${COOKIE}=${token}; HttpOnly; Secure; SameSite=Strict; Path=/`;

/** The one in the link, or else in the cookie. */
function tokenIn({ url = '', headers: { cookie = '' } }: IncomingMessage): string {
  const given = URL.parse(url, 'http://page')?.searchParams.get('token');
  if (given) return given;
  const cookies = cookie.split(';').map((each) => each.trim());
  return cookies.find((each) => each.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? '';
}

/** In the same time wherever they differ. */
function isToken(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
