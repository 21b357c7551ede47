/**
 * Who may look: whoever is on this host, where the address is a loopback one; otherwise whoever has the link, which holds a
 * token. What another site makes a browser ask is refused.
 */
import type { IncomingMessage } from 'node:http';
import { isSameToken } from '../host/sameToken.ts';
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
  const own = pageOf(headers.host ?? '', guarded);
  // A name that somebody else's DNS gives this address is not ours. Where a token is asked for, that alone tells: others
  // know this host by names that only they and its certificate know.
  if (!hasManyNames(guarded) && (own === undefined || !pagesOf(guarded).includes(own)))
    return { code: 403, message: `Host ${quoted(headers.host)} is not the address of this page` };
  if (headers.origin !== undefined && headers.origin !== own)
    return { code: 403, message: `Origin ${quoted(headers.origin)} is not this page` };
  if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate')
    return { code: 403, message: 'another site asked for it' };
  if (guarded.token !== undefined && !isSameToken(tokenIn(request, guarded.address), guarded.token))
    return {
      code: 401,
      message: 'open the link that the agent has told of where it runs: it holds the token for this page',
    };
  return undefined;
}

const quoted = (text: string | undefined): string => JSON.stringify(text ?? '');

const hasManyNames = ({ token, address }: Guarded): boolean => token !== undefined || isWildcard(address);

/** What a browser makes of a host: without the scheme's own port, and an IPv6 address in its shortest form. */
function pageOf(host: string, { scheme }: Pick<Guarded, 'scheme'>): string | undefined {
  return /^[\w.:[\]-]+$/.test(host) ? URL.parse(`${scheme}://${host}`)?.origin : undefined;
}

/** As a browser may call an address. */
function pagesOf({ address, scheme }: Guarded): (string | undefined)[] {
  const { port } = address;
  const local = isLoopback(address) ? [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`] : [];
  return [authorityOf(address), ...local].map((host) => pageOf(host, { scheme }));
}

/** A browser gives the cookies of one port to all others of the host: each agent there has its own. */
const cookieName = ({ port }: InspectAddress): string => `statelet-token-${port}`;

/** The cookie that keeps the token once the link was opened. */
export const tokenCookie = (token: string, address: InspectAddress): string =>
  `${cookieName(address)}=${token}; HttpOnly; Secure; SameSite=Strict; Path=/`;

/** The one in the link, or else in the cookie. */
function tokenIn({ url = '', headers: { cookie = '' } }: IncomingMessage, address: InspectAddress): string {
  const given = URL.parse(url, 'http://page')?.searchParams.get('token');
  if (given) return given;
  const cookies = cookie.split(';').map((each) => each.trim());
  const own = `${cookieName(address)}=`;
  return cookies.find((each) => each.startsWith(own))?.slice(own.length) ?? '';
}
