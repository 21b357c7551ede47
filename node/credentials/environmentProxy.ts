import { canonicalIp, isIpInSubnet, isLoopbackIp, isSameIp } from '../../base/ipAddress.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { ConfigError } from '../config/configError.ts';
import { isProxyUrl } from '../config/files/proxyField.ts';

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

const HTTPS_PORT = '443';

/**
 * Returns the proxy that the environment configures for a server, determined as in client-go (`x/net/http/httpproxy` of
 * Go). Returns undefined if none is configured. Throws a `ConfigError` if the proxy's URL is invalid.
 */
export function environmentProxy(server: string, environment: EnvironmentVariables): string | undefined {
  const readVariable = (name: string) => lookUp(environment, name) || lookUp(environment, name.toLowerCase()) || '';
  const proxy = readVariable('HTTPS_PROXY');
  if (proxy === '' || bypassesProxy(new URL(server), readVariable('NO_PROXY'))) return undefined;
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (!isProxyUrl(url)) throw new ConfigError('HTTPS_PROXY: expected an address such as "http://192.0.2.1:3128"');
  return url;
}

function bypassesProxy({ hostname, port }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || isLoopbackIp(host)) return true;
  const entries = noProxy.split(',').map((each) => each.trim().toLowerCase());
  return entries.some((entry) => matchesEntry(entry, host, port || HTTPS_PORT));
}

function matchesEntry(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isIpInSubnet(host, entry);
  const [, name = entry, entryPort] = /^(.*?|\[.*\]):(\d+)$/.exec(canonicalIp(entry) ? '' : entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const bareHost = name.replace(/^\[|\]$/g, '');
  if (canonicalIp(bareHost)) return isSameIp(bareHost, host);
  const entryDomain = bareHost.replace(/^\*(?=\.)/, '');
  return entryDomain.startsWith('.')
    ? host.endsWith(entryDomain)
    : host === entryDomain || host.endsWith(`.${entryDomain}`);
}
