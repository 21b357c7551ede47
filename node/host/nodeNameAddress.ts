/** Looks up the address that the name of a node resolves to (`NodeAddress` of `pkg/kubelet/nodestatus/setters.go`). */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { canonicalIp, ipFamily } from '../../base/ipAddress.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { type InterfaceMap, nodeIpProblem } from './hostAddresses.ts';

/** Maximum wait in milliseconds for the first lookup. A node whose resolver is slower starts without the address. */
const LOOKUP_TIMEOUT_MS = 2_000;

interface NameResolver {
  /** Resolves the given name to all of its addresses. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly interfaces: () => InterfaceMap;
}

const hostResolver: NameResolver = {
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  interfaces: networkInterfaces,
};

/**
 * Creates a getter for the address that the node's name resolves to. The getter returns the cached address and
 * refreshes the cache in the background. If the name is an IP address, the getter returns that address. Other addresses
 * are used only if they belong to the host. The getter returns undefined if there is no such address.
 */
export async function trackNodeNameAddress(
  { nodeName, prefersIpv6 }: Pick<NodeConfig, 'nodeName' | 'prefersIpv6'>,
  { resolve, interfaces }: NameResolver = hostResolver,
): Promise<() => string | undefined> {
  const literalIp = canonicalIp(nodeName);
  if (literalIp !== undefined) return () => literalIp;
  let cachedAddress: string | undefined;
  let lookupInFlight: Promise<void> | undefined;
  const resolveName = async () => {
    const ownAddresses = Object.values(interfaces()).flatMap((infos = []) => infos.map(({ address }) => address));
    try {
      const addresses = (await resolve(nodeName)).filter(
        (address) => nodeIpProblem(address, ownAddresses) === undefined,
      );
      cachedAddress = addresses.find((address) => (ipFamily(address) === 6) === prefersIpv6) ?? addresses[0];
    } catch (error) {
      // Retain the cached address unless the name no longer exists, because the resolver may only be unreachable.
      if (isNameNotFound(error)) cachedAddress = undefined;
    }
  };
  const refreshAddress = () => {
    lookupInFlight ??= resolveName().finally(() => {
      lookupInFlight = undefined;
    });
    return lookupInFlight;
  };
  const limit = startTimeLimit(LOOKUP_TIMEOUT_MS);
  await unlessAborted(refreshAddress(), limit.signal).catch(() => {});
  limit.clear();
  return () => {
    void refreshAddress();
    return cachedAddress;
  };
}

const isNameNotFound = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOTFOUND';
