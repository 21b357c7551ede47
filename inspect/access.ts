/**
 * Controls access to the page. Accepts only GET requests and, unless the page was explicitly opened, only requests with
 * the token in the page's link. Loopback addresses also require the token, because every local user and every
 * hostNetwork pod can reach them. Refuses cross-site requests of browsers.
 */
import type { IncomingMessage } from 'node:http';
import { authorityOf, type InspectAddress, isLoopback, isWildcard } from './address.ts';

/** Response headers that restrict the page to its own scripts, styles and requests. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

interface AccessRules {
  /** The listening address, with the port that was assigned. */
  readonly address: InspectAddress;
  readonly scheme: 'http' | 'https';
  /** Whether a string is the token. Undefined if the page is open to every client that reaches the address. */
  readonly isToken?: ((candidate: string) => boolean) | undefined;
  /**
   * The file that contains the link with the token, if there is one. The response to a request without a token names
   * this file.
   */
  readonly linkFile?: string | undefined;
}

/** An error response: the HTTP status code and its message. */
export interface AccessRefusal {
  readonly code: 400 | 401 | 403 | 405;
  readonly message: string;
}

/** Returns the error response for a request that is not allowed, or undefined if it is allowed. */
export function checkAccess(request: IncomingMessage, rules: AccessRules): AccessRefusal | undefined {
  const { method = '', headers } = request;
  if (method !== 'GET') return { code: 405, message: `${method} is not supported: nothing can be changed here` };
  const expectedOrigin = originOf(headers.host ?? '', rules);
  // Prevent DNS rebinding, in which a foreign name resolves to this address. A page with a token accepts any name,
  // because a browser only sends the cookie to the name that set it, and clients may reach the host through a name in
  // its certificate or a forwarded port.
  if (!acceptsAnyHost(rules) && (expectedOrigin === undefined || !allowedOrigins(rules).includes(expectedOrigin)))
    return { code: 403, message: `Host ${quoteText(headers.host)} is not the address of this page` };
  if (headers.origin !== undefined && headers.origin !== expectedOrigin)
    return { code: 403, message: `Origin ${quoteText(headers.origin)} is not this page` };
  if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate')
    return { code: 403, message: 'another site asked for it' };
  if (rules.isToken?.(requestToken(request, rules.address)) === false)
    return { code: 401, message: missingTokenMessage(rules) };
  return undefined;
}

const missingTokenMessage = ({ linkFile }: AccessRules): string =>
  linkFile === undefined
    ? 'this page needs the token in the link that statelet printed at its start: open that link'
    : `this page needs the token in its link: open the link in ${linkFile}, which only the agent's user can read`;

const quoteText = (text: string | undefined): string => JSON.stringify(text ?? '');

const acceptsAnyHost = ({ isToken, address }: AccessRules): boolean => isToken !== undefined || isWildcard(address);

/**
 * Returns the origin that a browser derives from a Host header, i.e. without the default port of the scheme and with an
 * IPv6 address in its shortest form.
 */
function originOf(host: string, { scheme }: Pick<AccessRules, 'scheme'>): string | undefined {
  return /^[\w.:[\]-]+$/.test(host) ? URL.parse(`${scheme}://${host}`)?.origin : undefined;
}

/** Returns the origins under which a browser may address the page. */
function allowedOrigins({ address, scheme }: AccessRules): (string | undefined)[] {
  const { port } = address;
  const loopbackHosts = isLoopback(address) ? [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`] : [];
  return [authorityOf(address), ...loopbackHosts].map((host) => originOf(host, { scheme }));
}

/** Returns the cookie's name. It contains the port, because browsers share cookies between all ports of a host. */
const cookieName = ({ port }: InspectAddress): string => `statelet-token-${port}`;

/**
 * The cookie that stores the token after its link was opened. With SameSite=Strict, a browser would not send the cookie
 * on the redirect after the user clicked the link on a different site. Without TLS not every browser accepts a Secure
 * cookie.
 */
export const tokenCookie = (token: string, { address, scheme }: Pick<AccessRules, 'address' | 'scheme'>): string =>
  `${cookieName(address)}=${token}; HttpOnly; ${scheme === 'https' ? 'Secure; ' : ''}SameSite=Lax; Path=/`;

/** Returns the token in the link or, if there is none, the token in the cookie. */
function requestToken({ url = '', headers: { cookie = '' } }: IncomingMessage, address: InspectAddress): string {
  const tokenParameter = URL.parse(url, 'http://page')?.searchParams.get('token');
  if (tokenParameter) return tokenParameter;
  const cookies = cookie.split(';').map((each) => each.trim());
  const own = `${cookieName(address)}=`;
  return cookies.find((each) => each.startsWith(own))?.slice(own.length) ?? '';
}
