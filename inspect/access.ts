/**
 * Controls access to the inspection page. Accepts only GET requests and, unless the page was explicitly opened to
 * everyone, only requests with the token in the page's link. Clients on the same host also need the token, because
 * every local user and every hostNetwork pod can reach a loopback address. Refuses cross-site requests from browsers.
 */
import type { IncomingMessage } from 'node:http';
import { authorityOf, type InspectAddress, isLoopback, isWildcard } from './address.ts';

/**
 * Response headers that allow the page to load only its own scripts and styles and to send requests only to its own
 * server.
 */
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
  /** The listening address with the actual port. */
  readonly address: InspectAddress;
  readonly scheme: 'http' | 'https';
  /** Whether a string is the token. Undefined if the page is open to every client that can reach the address. */
  readonly isToken?: ((candidate: string) => boolean) | undefined;
  /**
   * The file that contains the link with the token, if there is one. It is named in the response to a request without
   * the token.
   */
  readonly linkFile?: string | undefined;
}

/** An error response, which consists of the HTTP status code and a message. */
export interface AccessRefusal {
  readonly code: 400 | 401 | 403 | 405;
  readonly message: string;
}

/** Returns the error response for a request that is not allowed, or undefined if it is allowed. */
export function checkAccess(request: IncomingMessage, rules: AccessRules): AccessRefusal | undefined {
  const { method = '', headers } = request;
  if (method !== 'GET') return { code: 405, message: `${method} is not supported: nothing can be changed here` };
  const expectedOrigin = originOf(headers.host ?? '', rules);
  // Prevent DNS rebinding, in which a foreign host name resolves to this address. With a token, any host name is
  // accepted, because a browser sends the cookie only to the host name that set it. Clients may also use a host name
  // from the host's certificate or a forwarded port.
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
 * Returns the origin that corresponds to a Host header, in the form in which browsers send it. It omits the default
 * port of the scheme and abbreviates IPv6 addresses.
 */
function originOf(host: string, { scheme }: Pick<AccessRules, 'scheme'>): string | undefined {
  return /^[\w.:[\]-]+$/.test(host) ? URL.parse(`${scheme}://${host}`)?.origin : undefined;
}

/** Returns the origins under which browsers may access the page. */
function allowedOrigins({ address, scheme }: AccessRules): (string | undefined)[] {
  const { port } = address;
  const loopbackHosts = isLoopback(address) ? [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`] : [];
  return [authorityOf(address), ...loopbackHosts].map((host) => originOf(host, { scheme }));
}

/** Returns the cookie's name. It contains the port, because browsers share cookies between all ports of a host. */
const cookieName = ({ port }: InspectAddress): string => `statelet-token-${port}`;

/**
 * Returns the cookie that stores the token once the user has opened the link that contains it. The cookie is not
 * SameSite=Strict, because a browser would then not send it on the redirect if the user followed the link from a
 * different site. It is Secure only with TLS, because not every browser accepts a Secure cookie without TLS.
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
