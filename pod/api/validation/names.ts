import * as z from 'zod/mini';
import type { Problem } from '../problem.ts';
import type { PodSpec } from '../schema/pod.ts';
import { dnsSubdomain, forbidden, invalid, required } from './words.ts';

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const LONGEST_KERNEL_NAME = 64;
const address = z.union([z.ipv4(), z.ipv6()]);

/** What a pod says of names: its resolver (C20), its hosts (C18), its own name (C19). */
export function validateNames(spec: PodSpec): Problem[] {
  return [...validateDns(spec), ...validateHostAliases(spec), ...validateHostnameOverride(spec)];
}

function validateDns({ dnsPolicy, dnsConfig = {} }: PodSpec): Problem[] {
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  const at = 'spec.dnsConfig';
  const line = searches.join(' ').length;
  return [
    ...(dnsPolicy === 'None' && nameservers.length === 0
      ? [required(`${at}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
      : []),
    ...(nameservers.length > MAX_SERVERS
      ? [invalid(`${at}.nameservers`, nameservers, `must not have more than ${MAX_SERVERS} nameservers`)]
      : []),
    ...nameservers.flatMap((server, index) => validateAddress(`${at}.nameservers[${index}]`, server)),
    ...(searches.length > MAX_SEARCHES
      ? [invalid(`${at}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`)]
      : []),
    ...(line > MAX_SEARCH_CHARACTERS
      ? [
          invalid(
            `${at}.searches`,
            searches,
            `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...searches.flatMap((search, index) => validateSearch(`${at}.searches[${index}]`, search)),
    ...options.flatMap(({ name }, index) =>
      name ? [] : [required(`${at}.options[${index}].name`, 'must not be empty')],
    ),
  ];
}

/** A domain to search may end in a dot, and have underscores where names of hosts may not. */
function validateSearch(path: string, search: string): Problem[] {
  if (search === '.') return [];
  const isDomain =
    search.length <= 254 && /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*\.?$/.test(search);
  return isDomain ? [] : dnsSubdomain(path, search);
}

function validateHostAliases({ hostAliases = [] }: PodSpec): Problem[] {
  return hostAliases.flatMap(({ ip, hostnames = [] }, index) => [
    ...validateAddress(`spec.hostAliases[${index}].ip`, ip),
    ...hostnames.flatMap((name, at) => dnsSubdomain(`spec.hostAliases[${index}].hostnames[${at}]`, name)),
  ]);
}

function validateHostnameOverride({ hostnameOverride, hostNetwork, setHostnameAsFQDN }: PodSpec): Problem[] {
  if (hostnameOverride === undefined) return [];
  const at = 'spec.hostnameOverride';
  const long = `must be no more than ${LONGEST_KERNEL_NAME} characters`;
  return [
    ...dnsSubdomain(at, hostnameOverride),
    ...(hostnameOverride.length > LONGEST_KERNEL_NAME ? [invalid(at, hostnameOverride, long)] : []),
    ...(hostNetwork ? [forbidden(at, 'may not be specified when hostNetwork is true')] : []),
    ...(setHostnameAsFQDN ? [forbidden(at, 'may not be specified when setHostnameAsFQDN is true')] : []),
  ];
}

function validateAddress(path: string, value: string): Problem[] {
  return z.safeParse(address, value).success ? [] : [invalid(path, value, 'must be a valid IP address')];
}
