import { readFileSync } from 'node:fs';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import {
  canonicalIpOrText,
  ipFamily,
  isLinkLocalIp,
  isLoopbackIp,
  isMulticastIp,
  isSameIp,
  isUnspecifiedIp,
} from '../../base/ipAddress.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { byFamily } from '../config/nodeIp.ts';

export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const isUsable = ({ internal, address }: NetworkInterfaceInfo): boolean => !internal && !isLinkLocalIp(address);

/**
 * The host's own addresses, one of each family, IPv4 first: those of the interface that leads out where there is one.
 * `routes` is the text of /proc/net/route.
 */
export function hostAddresses(interfaces: Interfaces, routes: string): string[] {
  const uplink = uplinkOf(routes);
  const rank = (name: string) => (name === uplink ? 0 : BETWEEN_PODS.test(name) ? 2 : 1);
  const names = Object.keys(interfaces).sort((a, b) => rank(a) - rank(b));
  const usable = names
    .flatMap((name) => lookUp(interfaces, name) ?? [])
    .filter(isUsable)
    .map(({ address }) => address);
  const first = [usable.find((address) => ipFamily(address) === 4), usable.find((address) => ipFamily(address) === 6)];
  const found = first.filter((address) => address !== undefined);
  return found.length > 0 ? found : LOOPBACK;
}

/** Of a host without a network. */
const LOOPBACK = ['127.0.0.1'];

/** Interfaces that a container runtime makes for its containers: their addresses are not the host's to others. */
const BETWEEN_PODS = /^(statelet|docker|cni|virbr|veth|br-)/;

/** The interface of the default route. */
const uplinkOf = (routes: string): string | undefined => /^(\S+)\t00000000\t/m.exec(routes)?.[1];

/**
 * Looks up the host's addresses as they are. A host without a way out keeps those that it had, as on a kubelet: what is
 * left then may be a bridge of pods.
 */
export function followedAddresses(
  first: readonly string[],
  look: () => readonly string[] | undefined = presentAddresses,
): () => readonly string[] {
  let known = first;
  return () => {
    known = look() ?? known;
    return known;
  };
}

interface Following {
  readonly follow?: typeof followedAddresses;
  /** The address that the name of the node stands for, if any. */
  readonly named?: () => string | undefined;
}

/**
 * The addresses by which the node is known: those that it was told, or else the host's as they are. A cluster knows a node by
 * one alone, as from a kubelet that was not told two: that of its name or, where that has none, one of these, IPv4 where
 * there is one (`pkg/kubelet/nodestatus/setters.go`).
 */
export function nodeAddresses(
  { nodeIps, followsHostAddresses, prefersIpv6, cluster }: AddressConfig,
  { follow = followedAddresses, named = () => undefined }: Following = {},
): readonly string[] | (() => readonly string[]) {
  if (!followsHostAddresses) return nodeIps;
  const addresses = follow(nodeIps);
  const ofHost = () => byFamily(addresses(), prefersIpv6);
  if (cluster === undefined) return ofHost;
  return () => [named() ?? ofHost()].flat().slice(0, 1);
}

type AddressConfig = Pick<NodeConfig, 'nodeIps' | 'followsHostAddresses' | 'prefersIpv6' | 'cluster'>;

/** What is odd in addresses that the node was told, in the words of a kubelet, which would say none of them to its cluster. */
export function nodeIpWarnings(
  { nodeIps, followsHostAddresses }: Pick<NodeConfig, 'nodeIps' | 'followsHostAddresses'>,
  interfaces: Interfaces,
): string[] {
  if (followsHostAddresses) return [];
  const own = Object.values(interfaces).flatMap((infos = []) => infos.map(({ address }) => address));
  return nodeIps.flatMap((address) => {
    const why = oddity(address, own);
    return why === undefined ? [] : [`--node-ip: ${why}; it is used all the same`];
  });
}

/**
 * The kubelet's reason for refusing an address of the node (`validateNodeIP` in `pkg/kubelet/kubelet_node_status.go`).
 * `own` are the addresses of the host. Undefined if a kubelet would accept the address.
 */
export function oddity(address: string, own: readonly string[]): string | undefined {
  if (isLoopbackIp(address)) return "nodeIP can't be loopback address";
  if (isMulticastIp(address)) return "nodeIP can't be a multicast address";
  if (isLinkLocalIp(address)) return "nodeIP can't be a link-local unicast address";
  if (isUnspecifiedIp(address)) return "nodeIP can't be an all zeros address";
  const isOwn = own.some((each) => isSameIp(each, address));
  return isOwn ? undefined : `node IP: "${canonicalIpOrText(address)}" not found in the host's network interfaces`;
}

/** The addresses by the interface that leads out, undefined where none does. The kernel answers both at once. */
function presentAddresses(): readonly string[] | undefined {
  try {
    return addressesByUplink(networkInterfaces(), readFileSync('/proc/net/route', 'utf8'));
  } catch {
    return undefined;
  }
}

/** As `hostAddresses`, but undefined where no interface leads out or that one has no address. */
export function addressesByUplink(interfaces: Interfaces, routes: string): readonly string[] | undefined {
  const uplink = uplinkOf(routes);
  const has = uplink !== undefined && (lookUp(interfaces, uplink) ?? []).some(isUsable);
  return has ? hostAddresses(interfaces, routes) : undefined;
}
