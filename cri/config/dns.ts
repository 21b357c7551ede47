import type { Pod, PodDnsConfig, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../../kubernetes/api/staticPod.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { DNSConfig } from '../generated/runtime.ts';
import type { NodeDescription, ResolvConf } from '../nodeDescription.ts';

/** Maximum number of name servers that the C library uses. Further ones are left out. */
const MAX_SERVERS = 3;
/** Maximum number of search domains that the C library uses. Further ones are left out. */
const MAX_SEARCHES = 32;
/** Maximum total length of the search domains. Further ones are left out. */
const MAX_SEARCH_CHARACTERS = 2048;
/** Maximum length of one search domain. Longer ones are left out, because some C libraries abort on them. */
const MAX_SEARCH_LENGTH = 253;

const CLUSTER_OPTIONS = ['ndots:5'];
const EMPTY_RESOLV_CONF: ResolvConf = { servers: [], searches: [], options: [] };

/**
 * Returns the DNS configuration of a pod (C20): that of its DNS policy merged with its dnsConfig. ClusterFirst without
 * a cluster DNS falls back to Default.
 */
export function podDns(pod: Pod, node: NodeDescription): DNSConfig {
  const { servers, searches, options } = mergeDnsConfig(policyResolvConf(pod, node), pod.spec.dnsConfig);
  return { servers: servers.slice(0, MAX_SERVERS), searches: searchesWithinLimits(searches), options: [...options] };
}

/**
 * Returns the kubelet's warnings about a pod's DNS configuration, for a missing cluster DNS and for entries beyond the
 * limits.
 */
export function dnsWarnings(pod: Pod, node: NodeDescription): EventMessage[] {
  const requested = mergeDnsConfig(policyResolvConf(pod, node), pod.spec.dnsConfig);
  const { servers, searches } = podDns(pod, node);
  return [
    // A static pod has this policy by default, so a single event about the node replaces the warnings about static
    // pods.
    ...(usesClusterDns(pod.spec) && node.clusterDns.length === 0 && !isStaticPod(pod) ? [missingClusterDns(pod)] : []),
    ...(searches.length < requested.searches.length ? [omittedSearches(searches)] : []),
    ...(servers.length < requested.servers.length ? [omittedServers(servers)] : []),
  ];
}

/** Event about a node without cluster DNS, published once. */
export const NO_CLUSTER_DNS: EventMessage = {
  eventType: 'Warning',
  reason: 'MissingClusterDNS',
  message:
    'no clusterDNS is configured: pods with the default DNS policy "ClusterFirst" use the DNS configuration of the node',
};

function missingClusterDns({ metadata: { name, namespace, uid } }: Pod): EventMessage {
  const problem =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  const message = `pod: "${name}_${namespace}(${uid})". ${problem}`;
  return { eventType: 'Warning', reason: 'MissingClusterDNS', message };
}

const dnsFormingWarning = (message: string): EventMessage => ({
  eventType: 'Warning',
  reason: 'DNSConfigForming',
  message,
});

const omittedSearches = (applied: readonly string[]): EventMessage =>
  dnsFormingWarning(
    `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${applied.join(' ')}`,
  );

const omittedServers = (applied: readonly string[]): EventMessage =>
  dnsFormingWarning(
    `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${applied.join(' ')}`,
  );

function policyResolvConf(pod: Pod, node: NodeDescription): ResolvConf {
  if (pod.spec.dnsPolicy === 'None') return EMPTY_RESOLV_CONF;
  if (!usesClusterDns(pod.spec) || node.clusterDns.length === 0) return node.resolvConf;
  const { clusterDns, clusterDomain, resolvConf } = node;
  const namespaceSearches =
    clusterDomain === '' ? [] : [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`];
  const clusterSearches = clusterDomain === '' ? [] : [clusterDomain];
  return {
    servers: clusterDns,
    searches: unique(namespaceSearches, clusterSearches, resolvConf.searches),
    options: CLUSTER_OPTIONS,
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
    servers: unique(base.servers, podDnsConfig.nameservers ?? []),
    searches: unique(base.searches, podDnsConfig.searches ?? []),
    options: mergeOptions(base.options, podDnsConfig.options ?? []),
  };
}

/** Merges resolver options by name. An option of the pod overrides the base option of the same name. */
function mergeOptions(base: readonly string[], podOptions: NonNullable<PodDnsConfig['options']>): string[] {
  const byName = new Map(base.map((option) => [option.split(':', 1)[0] ?? option, option]));
  for (const { name, value } of podOptions) {
    if (name) byName.set(name, value ? `${name}:${value}` : name);
  }
  return [...byName.values()];
}

function searchesWithinLimits(searches: readonly string[]): string[] {
  let characters = -1;
  const usable = searches.slice(0, MAX_SEARCHES).filter(({ length }) => length <= MAX_SEARCH_LENGTH);
  return usable.filter((search) => {
    characters += search.length + 1;
    return characters <= MAX_SEARCH_CHARACTERS;
  });
}

function unique(...entryLists: readonly (readonly string[])[]): string[] {
  return [...new Set(entryLists.flat())];
}
