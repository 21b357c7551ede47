/** Validates the address of a proxy in a kubeconfig or in the environment. */
import { matchingStringSchema } from '../fields/fields.ts';

const PROXY_SCHEMES: readonly string[] = ['http:', 'https:', 'socks5:', 'socks5h:'];

/** Whether a string is the URL of a proxy. It may contain a user and a password. */
export function isProxyUrl(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && PROXY_SCHEMES.includes(url.protocol) && url.hostname !== '';
}

export const proxyUrl = matchingStringSchema(
  'an address such as "http://192.0.2.1:3128" or "socks5://192.0.2.1:1080"',
  (address) => address === '' || isProxyUrl(address),
);
