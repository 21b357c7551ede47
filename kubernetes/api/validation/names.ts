/** Checks of a pod's names and of how it resolves names: its resolver (C20), its hosts (C18) and its own name (C19). */
import type { Problem } from '../problem.ts';
import type { PodSpec } from '../schema/pod.ts';
import { dnsSubdomainWithUnderscore } from './nameRules.ts';
import { allInvalid, dnsSubdomain, forbidden, invalid, ipAddress, required, tooLong } from './words.ts';

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const LONGEST_KERNEL_NAME = 64;

/** Checks the configuration of the resolver (`validatePodDNSConfig`). */
export function validateDns({ dnsPolicy, dnsConfig }: PodSpec): Problem[] {
  const path = 'spec.dnsConfig';
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    if (!dnsConfig.nameservers?.length) return [required(`${path}.nameservers`, why)];
  }
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  return [
    ...(nameservers.length > MAX_SERVERS
      ? [invalid(`${path}.nameservers`, nameservers, `must not have more than ${MAX_SERVERS} nameservers`)]
      : []),
    ...nameservers.flatMap((server, index) => ipAddress(`${path}.nameservers[${index}]`, server)),
    ...(searches.length > MAX_SEARCHES
      ? [invalid(`${path}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`)]
      : []),
    ...(searches.join(' ').length > MAX_SEARCH_CHARACTERS
      ? [
          invalid(
            `${path}.searches`,
            searches,
            `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...searches.flatMap((search, index) => validateSearch(search, `${path}.searches[${index}]`)),
    ...options.flatMap(({ name }, index) => (name ? [] : [required(`${path}.options[${index}]`, 'must not be empty')])),
  ];
}

/** A search domain may end in a dot and have underscores, which names of hosts may not. */
function validateSearch(search: string, path: string): Problem[] {
  if (search === '.') return [];
  const domain = search.replace(/\.$/, '');
  return allInvalid(path, domain, dnsSubdomainWithUnderscore(domain));
}

export function validateHostAliases({ hostAliases = [] }: PodSpec): Problem[] {
  return hostAliases.flatMap(({ ip, hostnames = [] }, index) => [
    ...ipAddress(`spec.hostAliases[${index}].ip`, ip),
    ...hostnames.flatMap((name, position) => dnsSubdomain(`spec.hostAliases[${index}].hostnames[${position}]`, name)),
  ]);
}

export function validateHostnameOverride({ hostnameOverride, hostNetwork, setHostnameAsFQDN }: PodSpec): Problem[] {
  if (hostnameOverride === undefined) return [];
  const path = 'spec.hostnameOverride';
  return [
    ...(setHostnameAsFQDN ? [forbidden(path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(hostNetwork ? [forbidden(path, 'may not be specified when hostNetwork is true')] : []),
    ...(hostnameOverride.length > LONGEST_KERNEL_NAME ? [tooLong(path, LONGEST_KERNEL_NAME)] : []),
    ...dnsSubdomain(path, hostnameOverride),
  ];
}
