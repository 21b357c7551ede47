/** The address that the page is served on. */
import { isIP } from 'node:net';
import { isLoopbackIp, isUnspecifiedIp } from '../base/ipAddress.ts';

/** An address to listen on. */
export interface InspectAddress {
  readonly host: string;
  readonly port: number;
}

const PATTERN = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/;

/** Suffix of an address whose page is served without a token. */
const OPEN = '?open';

/** The page's address, and whether clients need no token. */
export interface PageAddress {
  readonly address: InspectAddress;
  readonly isOpen: boolean;
}

/** Parses `127.0.0.1:10270` or `127.0.0.1:10270?open`; undefined if the text is neither. */
export function pageAddressIn(text: string): PageAddress | undefined {
  const isOpen = text.endsWith(OPEN);
  const address = addressIn(isOpen ? text.slice(0, -OPEN.length) : text);
  return address && { address, isOpen };
}

/** Parses `127.0.0.1:10270`, `[::1]:10270` or `localhost:10270`; port 0 is any. Undefined if the text is no address. */
function addressIn(text: string): InspectAddress | undefined {
  const [, ipv6, name, digits] = PATTERN.exec(text) ?? [];
  const [host, port] = [ipv6 ?? name ?? '', Number(digits)];
  const isHost = ipv6 === undefined ? name === 'localhost' || isIP(host) === 4 : isIP(host) === 6;
  return isHost && port <= 65_535 ? { host, port } : undefined;
}

/** Whether only this host reaches the address. */
export const isLoopback = ({ host }: InspectAddress): boolean => host === 'localhost' || isLoopbackIp(host);

/** Whether the address stands for all addresses of this host. */
export const isWildcard = ({ host }: InspectAddress): boolean => isUnspecifiedIp(host);

/** The host and port as in a URL. */
export const authorityOf = ({ host, port }: InspectAddress): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
