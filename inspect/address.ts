/** Parses the address on which the page is served. */
import { isIP } from 'node:net';
import { isLoopbackIp, isUnspecifiedIp } from '../base/ipAddress.ts';

export interface InspectAddress {
  readonly host: string;
  readonly port: number;
}

const ADDRESS_PATTERN = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/;

/** Suffix of the configured address that makes the page accessible without a token. */
const OPEN_SUFFIX = '?open';

/** The address on which the page is served, and whether the page requires no token. */
export interface PageAddress {
  readonly address: InspectAddress;
  readonly isOpen: boolean;
}

/** Parses `127.0.0.1:10270` or `127.0.0.1:10270?open`. Returns undefined if the string has neither form. */
export function parsePageAddress(text: string): PageAddress | undefined {
  const isOpen = text.endsWith(OPEN_SUFFIX);
  const address = parseAddress(isOpen ? text.slice(0, -OPEN_SUFFIX.length) : text);
  return address && { address, isOpen };
}

/**
 * Parses `127.0.0.1:10270`, `[::1]:10270` or `localhost:10270`. Port 0 selects a free port. Returns undefined if the
 * string is not an address.
 */
function parseAddress(text: string): InspectAddress | undefined {
  const [, ipv6, name, digits] = ADDRESS_PATTERN.exec(text) ?? [];
  const [host, port] = [ipv6 ?? name ?? '', Number(digits)];
  const isHost = ipv6 === undefined ? name === 'localhost' || isIP(host) === 4 : isIP(host) === 6;
  return isHost && port <= 65_535 ? { host, port } : undefined;
}

/** Whether the address is reachable from this host only. */
export const isLoopback = ({ host }: InspectAddress): boolean => host === 'localhost' || isLoopbackIp(host);

/** Whether the address represents all addresses of this host. */
export const isWildcard = ({ host }: InspectAddress): boolean => isUnspecifiedIp(host);

/** Formats the host and port as they appear in a URL. */
export const authorityOf = ({ host, port }: InspectAddress): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
