import type { Pod, PodDnsConfig, PodSpec } from '../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../kubernetes/api/staticPod.ts';
import type { EventMessage } from '../kubernetes/events/recordedEvent.ts';
import type { DNSConfig } from './generated/runtime.ts';
import type { NodeDescription, ResolvConf } from './nodeDescription.ts';

/** What the C library takes of a resolv.conf. */
const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
/** Some C libraries abort on a longer one. */
const LONGEST_SEARCH = 253;

const CLUSTER_OPTIONS = ['ndots:5'];
const NOTHING: ResolvConf = { servers: [], searches: [], options: [] };

/** A pod's resolver (C20): its policy's, with its own dnsConfig merged in; ClusterFirst without a cluster DNS is Default. */
export function podDns(pod: Pod, node: NodeDescription): DNSConfig {
  const { servers, searches, options } = merged(ofPolicy(pod, node), pod.spec.dnsConfig);
  return { servers: servers.slice(0, MAX_SERVERS), searches: fitting(searches), options: [...options] };
}

/** What the kubelet tells a pod's author of its resolver: a cluster DNS that is not there, entries that did not fit. */
export function dnsWarnings(pod: Pod, node: NodeDescription): EventMessage[] {
  const wanted = merged(ofPolicy(pod, node), pod.spec.dnsConfig);
  const { servers, searches } = podDns(pod, node);
  return [
    // A static pod has this policy without having asked for it: its node tells that once.
    ...(wantsCluster(pod.spec) && node.clusterDns.length === 0 && !isStaticPod(pod) ? [missingClusterDns(pod)] : []),
    ...(searches.length < wanted.searches.length ? [omittedSearches(searches)] : []),
    ...(servers.length < wanted.servers.length ? [omittedServers(servers)] : []),
  ];
}

/** What a node tells once that has no cluster DNS for its pods. */
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

const forming = (message: string): EventMessage => ({ eventType: 'Warning', reason: 'DNSConfigForming', message });

const omittedSearches = (applied: readonly string[]): EventMessage =>
  forming(
    `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${applied.join(' ')}`,
  );

const omittedServers = (applied: readonly string[]): EventMessage =>
  forming(
    `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${applied.join(' ')}`,
  );

function ofPolicy(pod: Pod, node: NodeDescription): ResolvConf {
  if (pod.spec.dnsPolicy === 'None') return NOTHING;
  if (!wantsCluster(pod.spec) || node.clusterDns.length === 0) return node.resolvConf;
  const { clusterDns, clusterDomain, resolvConf } = node;
  const own = clusterDomain === '' ? [] : [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`];
  const cluster = clusterDomain === '' ? [] : [clusterDomain];
  return { servers: clusterDns, searches: distinct(own, cluster, resolvConf.searches), options: CLUSTER_OPTIONS };
}

/** A pod on the host's network has to ask for the cluster's DNS by name. */
function wantsCluster({ dnsPolicy = 'ClusterFirst', hostNetwork }: PodSpec): boolean {
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
}

function merged(base: ResolvConf, own: PodDnsConfig | undefined): ResolvConf {
  if (own === undefined) return base;
  return {
    servers: distinct(base.servers, own.nameservers ?? []),
    searches: distinct(base.searches, own.searches ?? []),
    options: mergedOptions(base.options, own.options ?? []),
  };
}

/** An option of the pod's replaces the one of the same name. */
function mergedOptions(base: readonly string[], own: NonNullable<PodDnsConfig['options']>): string[] {
  const byName = new Map(base.map((option) => [option.split(':', 1)[0] ?? option, option]));
  for (const { name, value } of own) {
    if (name) byName.set(name, value ? `${name}:${value}` : name);
  }
  return [...byName.values()];
}

function fitting(searches: readonly string[]): string[] {
  let characters = -1;
  const usable = searches.slice(0, MAX_SEARCHES).filter(({ length }) => length <= LONGEST_SEARCH);
  return usable.filter((search) => {
    characters += search.length + 1;
    return characters <= MAX_SEARCH_CHARACTERS;
  });
}

function distinct(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}
