/** The proxy that the environment says (`x/net/http/httpproxy` of Go, as client-go asks it). */
import { BlockList, isIP } from 'node:net';
import { lookUp } from '../../pod/lookUp.ts';
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
  if (host === 'localhost' || isLoopback(host)) return true;
  const entries = noProxy.split(',').map((each) => each.trim().toLowerCase());
  return entries.some((entry) => matches(entry, host, port || HTTPS_PORT));
}

const isLoopback = (host: string): boolean => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isInRange(entry, host);
  const [, name = entry, ofPort] = /^(.*?|\[.*\]):(\d+)$/.exec(isIP(entry) ? '' : entry) ?? [];
  if (ofPort !== undefined && ofPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  if (isIP(bare)) return bare === host;
  const domain = bare.replace(/^\*(?=\.)/, '');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function isInRange(entry: string, host: string): boolean {
  const [address = '', prefix = ''] = entry.split('/');
  const [family, own] = [isIP(address), isIP(host)];
  const bits = Number(prefix);
  if (family === 0 || family !== own || prefix === '' || !(bits <= (family === 4 ? 32 : 128))) return false;
  const list = new BlockList();
  list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
