/** Validates a pod's DNS configuration (C20), host aliases (C18) and hostname (C19). */
import type { Problem } from '../../problem.ts';
import type { PodSpec } from '../../schema/pod.ts';
import { underscoreSubdomainProblems } from '../metadata/nameRules.ts';
import { allInvalid, forbidden, invalid, required, tooLong, validateDnsSubdomain, validateIp } from '../words.ts';

const MAX_NAMESERVERS = 3;
const MAX_SEARCH_DOMAINS = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_HOSTNAME_LENGTH = 64;

/** Validates the DNS policy and configuration (`validatePodDNSConfig`). */
export function validateDns({ dnsPolicy, dnsConfig }: PodSpec): Problem[] {
  const path = 'spec.dnsConfig';
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    const reason = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    if (!dnsConfig.nameservers?.length) return [required(`${path}.nameservers`, reason)];
  }
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  return [
    ...(nameservers.length > MAX_NAMESERVERS
      ? [invalid(`${path}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`)]
      : []),
    ...nameservers.flatMap((server, index) => validateIp(`${path}.nameservers[${index}]`, server)),
    ...(searches.length > MAX_SEARCH_DOMAINS
      ? [invalid(`${path}.searches`, searches, `must not have more than ${MAX_SEARCH_DOMAINS} search paths`)]
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
    ...searches.flatMap((search, index) => validateSearchDomain(search, `${path}.searches[${index}]`)),
    ...options.flatMap(({ name }, index) => (name ? [] : [required(`${path}.options[${index}]`, 'must not be empty')])),
  ];
}

/** Checks a search domain. Unlike a host name, it may end with a dot and contain underscores. */
function validateSearchDomain(search: string, path: string): Problem[] {
  if (search === '.') return [];
  const domain = search.replace(/\.$/, '');
  return allInvalid(path, domain, underscoreSubdomainProblems(domain));
}

export function validateHostAliases({ hostAliases = [] }: PodSpec): Problem[] {
  return hostAliases.flatMap(({ ip, hostnames = [] }, index) => [
    ...validateIp(`spec.hostAliases[${index}].ip`, ip),
    ...hostnames.flatMap((name, position) =>
      validateDnsSubdomain(`spec.hostAliases[${index}].hostnames[${position}]`, name),
    ),
  ]);
}

export function validateHostnameOverride({ hostnameOverride, hostNetwork, setHostnameAsFQDN }: PodSpec): Problem[] {
  if (hostnameOverride === undefined) return [];
  const path = 'spec.hostnameOverride';
  return [
    ...(setHostnameAsFQDN ? [forbidden(path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(hostNetwork ? [forbidden(path, 'may not be specified when hostNetwork is true')] : []),
    ...(hostnameOverride.length > MAX_HOSTNAME_LENGTH ? [tooLong(path, MAX_HOSTNAME_LENGTH)] : []),
    ...validateDnsSubdomain(path, hostnameOverride),
  ];
}
