/** Where the page is served. */
import { isIP } from 'node:net';
import { isLoopbackIp, isUnspecifiedIp } from '../pod/ipAddress.ts';

/** An address to listen on. */
export interface InspectAddress {
  readonly host: string;
  readonly port: number;
}

const PATTERN = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/;

/** `127.0.0.1:10270`, `[::1]:10270`, `localhost:10270`; port 0 is any. Undefined where it is none. */
export function addressIn(text: string): InspectAddress | undefined {
  const [, ipv6, name, digits] = PATTERN.exec(text) ?? [];
  const [host, port] = [ipv6 ?? name ?? '', Number(digits)];
  const isHost = ipv6 === undefined ? name === 'localhost' || isIP(host) === 4 : isIP(host) === 6;
  return isHost && port <= 65_535 ? { host, port } : undefined;
}

/** Whether only this host reaches the address. */
export const isLoopback = ({ host }: InspectAddress): boolean => host === 'localhost' || isLoopbackIp(host);

/** Whether the address stands for all addresses of this host. */
export const isWildcard = ({ host }: InspectAddress): boolean => isUnspecifiedIp(host);

/** As it stands in a URL. */
export const authorityOf = ({ host, port }: InspectAddress): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
