/** The proxy that the environment says (`x/net/http/httpproxy` of Go, as client-go asks it). */
import { canonicalIp, isIpInSubnet, isLoopbackIp, isSameIp } from '../../base/ipAddress.ts';
import { lookUp } from '../../base/lookUp.ts';
import { ConfigError } from '../config/configError.ts';
import { isProxy } from '../config/proxyField.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const HTTPS_PORT = '443';

/** Undefined: the server is reached by itself. Throws a `ConfigError` for a proxy that cannot be one. */
export function environmentProxy(server: string, environment: Environment): string | undefined {
  const said = (name: string) => lookUp(environment, name) || lookUp(environment, name.toLowerCase()) || '';
  const proxy = said('HTTPS_PROXY');
  if (proxy === '' || isReachedByItself(new URL(server), said('NO_PROXY'))) return undefined;
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (!isProxy(url)) throw new ConfigError('HTTPS_PROXY: expected an address such as "http://192.0.2.1:3128"');
  return url;
}

function isReachedByItself({ hostname, port }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || isLoopbackIp(host)) return true;
  const entries = noProxy.split(',').map((each) => each.trim().toLowerCase());
  return entries.some((entry) => matches(entry, host, port || HTTPS_PORT));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isIpInSubnet(host, entry);
  const [, name = entry, ofPort] = /^(.*?|\[.*\]):(\d+)$/.exec(canonicalIp(entry) ? '' : entry) ?? [];
  if (ofPort !== undefined && ofPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  if (canonicalIp(bare)) return isSameIp(bare, host);
  const domain = bare.replace(/^\*(?=\.)/, '');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}
