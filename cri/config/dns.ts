import { isStaticPod } from '../../kubernetes/api/pods/staticPod.ts';
import type { Pod, PodDnsConfig, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { DNSConfig } from '../generated/runtime.ts';
import type { NodeDescription, ResolvConf } from '../nodeDescription.ts';

/** Maximum number of name servers that the C library uses. Additional ones are omitted. */
const MAX_NAME_SERVERS = 3;
/** Maximum number of search domains that the C library uses. Additional ones are omitted. */
const MAX_SEARCH_DOMAINS = 32;
/** Maximum total length of the search domains. Domains beyond it are omitted. */
const MAX_SEARCH_LIST_LENGTH = 2048;
/** Maximum length of one search domain. Longer ones are omitted, because some C libraries abort on them. */
const MAX_SEARCH_DOMAIN_LENGTH = 253;

const CLUSTER_DNS_OPTIONS = ['ndots:5'];
const EMPTY_RESOLV_CONF: ResolvConf = { servers: [], searches: [], options: [] };

/**
 * Returns the DNS configuration of a pod (C20), which merges the pod's dnsConfig into the configuration of its DNS
 * policy. ClusterFirst without a cluster DNS falls back to Default.
 */
export function podDnsConfig(pod: Pod, node: NodeDescription): DNSConfig {
  const { servers, searches, options } = mergeDnsConfig(resolvConfForPolicy(pod, node), pod.spec.dnsConfig);
  return { servers: servers.slice(0, MAX_NAME_SERVERS), searches: limitSearches(searches), options: [...options] };
}

/**
 * Returns the kubelet's warnings about a pod's DNS configuration, for a missing cluster DNS and for entries beyond the
 * limits.
 */
export function dnsWarnings(pod: Pod, node: NodeDescription): EventMessage[] {
  const mergedConf = mergeDnsConfig(resolvConfForPolicy(pod, node), pod.spec.dnsConfig);
  const { servers, searches } = podDnsConfig(pod, node);
  return [
    // ClusterFirst is the default policy of static pods, so a single event about the node replaces a warning for each
    // static pod.
    ...(usesClusterDns(pod.spec) && node.clusterDns.length === 0 && !isStaticPod(pod)
      ? [missingClusterDnsEvent(pod)]
      : []),
    ...(searches.length < mergedConf.searches.length ? [omittedSearchesEvent(searches)] : []),
    ...(servers.length < mergedConf.servers.length ? [omittedServersEvent(servers)] : []),
  ];
}

/** Event about a node without cluster DNS, published once. */
export const MISSING_CLUSTER_DNS_EVENT: EventMessage = {
  eventType: 'Warning',
  reason: 'MissingClusterDNS',
  message:
    'no clusterDNS is configured: pods with the default DNS policy "ClusterFirst" use the DNS configuration of the node',
};

function missingClusterDnsEvent({ metadata: { name, namespace, uid } }: Pod): EventMessage {
  const problem =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  const message = `pod: "${name}_${namespace}(${uid})". ${problem}`;
  return { eventType: 'Warning', reason: 'MissingClusterDNS', message };
}

const dnsFormingEvent = (message: string): EventMessage => ({
  eventType: 'Warning',
  reason: 'DNSConfigForming',
  message,
});

const omittedSearchesEvent = (appliedSearches: readonly string[]): EventMessage =>
  dnsFormingEvent(
    `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${appliedSearches.join(' ')}`,
  );

const omittedServersEvent = (appliedServers: readonly string[]): EventMessage =>
  dnsFormingEvent(
    `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${appliedServers.join(' ')}`,
  );

function resolvConfForPolicy(pod: Pod, node: NodeDescription): ResolvConf {
  if (pod.spec.dnsPolicy === 'None') return EMPTY_RESOLV_CONF;
  if (!usesClusterDns(pod.spec) || node.clusterDns.length === 0) return node.resolvConf;
  const { clusterDns, clusterDomain, resolvConf } = node;
  const namespaceDomains =
    clusterDomain === '' ? [] : [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`];
  const clusterDomains = clusterDomain === '' ? [] : [clusterDomain];
  return {
    servers: clusterDns,
    searches: mergeUnique(namespaceDomains, clusterDomains, resolvConf.searches),
    options: CLUSTER_DNS_OPTIONS,
  };
}

/**
 * Whether the pod resolves names with the cluster's DNS. A pod on the host network does so only with
 * ClusterFirstWithHostNet.
 */
function usesClusterDns({ dnsPolicy = 'ClusterFirst', hostNetwork }: PodSpec): boolean {
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
}

function mergeDnsConfig(base: ResolvConf, podDnsConfig: PodDnsConfig | undefined): ResolvConf {
  if (podDnsConfig === undefined) return base;
  return {
    servers: mergeUnique(base.servers, podDnsConfig.nameservers ?? []),
    searches: mergeUnique(base.searches, podDnsConfig.searches ?? []),
    options: mergeOptions(base.options, podDnsConfig.options ?? []),
  };
}

/** Merges resolver options by name. An option of the pod overrides the base option of the same name. */
function mergeOptions(base: readonly string[], podOptions: NonNullable<PodDnsConfig['options']>): string[] {
  const optionsByName = new Map(base.map((option) => [option.split(':', 1)[0] ?? option, option]));
  for (const { name, value } of podOptions) {
    if (name) optionsByName.set(name, value ? `${name}:${value}` : name);
  }
  return [...optionsByName.values()];
}

function limitSearches(searches: readonly string[]): string[] {
  let totalLength = -1;
  const acceptedSearches = searches
    .slice(0, MAX_SEARCH_DOMAINS)
    .filter(({ length }) => length <= MAX_SEARCH_DOMAIN_LENGTH);
  return acceptedSearches.filter((search) => {
    totalLength += search.length + 1;
    return totalLength <= MAX_SEARCH_LIST_LENGTH;
  });
}

function mergeUnique(...entryLists: readonly (readonly string[])[]): string[] {
  return [...new Set(entryLists.flat())];
}
