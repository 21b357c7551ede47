/** Validates the address of a proxy in a kubeconfig or in the environment. */
import { textLike } from './fields.ts';

const SCHEMES: readonly string[] = ['http:', 'https:', 'socks5:', 'socks5h:'];

/** Whether a string is the URL of a proxy. It may contain a user and a password. */
export function isProxy(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && SCHEMES.includes(url.protocol) && url.hostname !== '';
}

export const proxyUrl = textLike(
  'an address such as "http://192.0.2.1:3128" or "socks5://192.0.2.1:1080"',
  (address) => address === '' || isProxy(address),
);
