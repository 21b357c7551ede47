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
import { lookUp } from '../../base/values/lookUp.ts';
import { sortByFamily } from '../config/fields/nodeIp.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

export type InterfaceMap = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const isUsableAddress = ({ internal, address }: NetworkInterfaceInfo): boolean => !internal && !isLinkLocalIp(address);

/**
 * Returns the first usable address of each family, IPv4 first. If there is a default route, the addresses of its
 * interface take precedence. `routes` is the content of /proc/net/route.
 */
export function hostAddresses(interfaces: InterfaceMap, routes: string): string[] {
  const uplinkName = defaultRouteInterface(routes);
  const rankInterface = (name: string) => (name === uplinkName ? 0 : POD_INTERFACE_PATTERN.test(name) ? 2 : 1);
  const names = Object.keys(interfaces).sort((a, b) => rankInterface(a) - rankInterface(b));
  const usableAddresses = names
    .flatMap((name) => lookUp(interfaces, name) ?? [])
    .filter(isUsableAddress)
    .map(({ address }) => address);
  const firstByFamily = [
    usableAddresses.find((address) => ipFamily(address) === 4),
    usableAddresses.find((address) => ipFamily(address) === 6),
  ];
  const addresses = firstByFamily.filter((address) => address !== undefined);
  return addresses.length > 0 ? addresses : LOOPBACK_ADDRESSES;
}

/** Fallback for a host without a network. */
const LOOPBACK_ADDRESSES = ['127.0.0.1'];

/**
 * Pattern of the names of interfaces that runtimes create for containers and VMs. Other hosts cannot reach this host at
 * the addresses of these interfaces.
 */
const POD_INTERFACE_PATTERN = /^(statelet|docker|cni|virbr|veth|br-)/;

/** Returns the name of the interface with the default route. `routes` is the content of /proc/net/route. */
const defaultRouteInterface = (routes: string): string | undefined => /^(\S+)\t00000000\t/m.exec(routes)?.[1];

/**
 * Returns a function that reads the host's current addresses. While the host has no default route, it returns the
 * previous addresses as the kubelet does, because the remaining addresses may be those of a pod bridge.
 */
export function trackHostAddresses(
  initialAddresses: readonly string[],
  readAddresses: () => readonly string[] | undefined = currentAddresses,
): () => readonly string[] {
  let addresses = initialAddresses;
  return () => {
    addresses = readAddresses() ?? addresses;
    return addresses;
  };
}

interface AddressSources {
  readonly trackHost?: typeof trackHostAddresses;
  /** Returns the address that the node's name resolves to. */
  readonly nameAddress?: () => string | undefined;
}

/**
 * Returns the configured addresses of the node or, if there are none, the host's current addresses. Without configured
 * addresses, a node in a cluster has only one address, as on the kubelet (`pkg/kubelet/nodestatus/setters.go`): the
 * address that the node's name resolves to, or else the host's first address of the preferred family.
 */
export function nodeAddresses(
  { nodeIps, followsHostAddresses, prefersIpv6, cluster }: AddressConfig,
  { trackHost = trackHostAddresses, nameAddress = () => undefined }: AddressSources = {},
): readonly string[] | (() => readonly string[]) {
  if (!followsHostAddresses) return nodeIps;
  const addresses = trackHost(nodeIps);
  const sortedAddresses = () => sortByFamily(addresses(), prefersIpv6);
  if (cluster === undefined) return sortedAddresses;
  return () => [nameAddress() ?? sortedAddresses()].flat().slice(0, 1);
}

type AddressConfig = Pick<NodeConfig, 'nodeIps' | 'followsHostAddresses' | 'prefersIpv6' | 'cluster'>;

/** Returns a warning for each configured address that the kubelet would not report, with the kubelet's wording. */
export function nodeIpWarnings(
  { nodeIps, followsHostAddresses }: Pick<NodeConfig, 'nodeIps' | 'followsHostAddresses'>,
  interfaces: InterfaceMap,
): string[] {
  if (followsHostAddresses) return [];
  const interfaceAddresses = Object.values(interfaces).flatMap((infos = []) => infos.map(({ address }) => address));
  return nodeIps.flatMap((address) => {
    const problem = nodeIpProblem(address, interfaceAddresses);
    return problem === undefined ? [] : [`--node-ip: ${problem}; it is used anyway`];
  });
}

/**
 * Returns the kubelet's reason for refusing an address of the node (`validateNodeIP` in
 * `pkg/kubelet/kubelet_node_status.go`). `ownAddresses` contains the addresses of the host. Returns undefined if a
 * kubelet would accept the address.
 */
export function nodeIpProblem(address: string, ownAddresses: readonly string[]): string | undefined {
  if (isLoopbackIp(address)) return "nodeIP can't be loopback address";
  if (isMulticastIp(address)) return "nodeIP can't be a multicast address";
  if (isLinkLocalIp(address)) return "nodeIP can't be a link-local unicast address";
  if (isUnspecifiedIp(address)) return "nodeIP can't be an all zeros address";
  const isHostAddress = ownAddresses.some((each) => isSameIp(each, address));
  return isHostAddress
    ? undefined
    : `node IP: "${canonicalIpOrText(address)}" not found in the host's network interfaces`;
}

/** Reads the addresses of the interface with the default route. Returns undefined if there is no such interface. */
function currentAddresses(): readonly string[] | undefined {
  try {
    return defaultRouteAddresses(networkInterfaces(), readFileSync('/proc/net/route', 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Returns the same addresses as `hostAddresses`, or undefined if there is no default route or its interface has no
 * usable address.
 */
export function defaultRouteAddresses(interfaces: InterfaceMap, routes: string): readonly string[] | undefined {
  const uplinkName = defaultRouteInterface(routes);
  const hasUplinkAddress = uplinkName !== undefined && (lookUp(interfaces, uplinkName) ?? []).some(isUsableAddress);
  return hasUplinkAddress ? hostAddresses(interfaces, routes) : undefined;
}
