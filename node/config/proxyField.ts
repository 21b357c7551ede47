/** The address of a proxy, as a kubeconfig and the environment have it. */
import { textLike } from './fields.ts';

const SCHEMES: readonly string[] = ['http:', 'https:', 'socks5:', 'socks5h:'];

/** Whether it can be the address of one; it may name who asks, with a password. */
export function isProxy(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && SCHEMES.includes(url.protocol) && url.hostname !== '';
}

export const proxyUrl = textLike(
  'an address such as "http://192.0.2.1:3128" or "socks5://192.0.2.1:1080"',
  (address) => address === '' || isProxy(address),
);
