/** The address that the name of a node stands for (`NodeAddress` of `pkg/kubelet/nodestatus/setters.go`). */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { canonicalIp, ipFamily } from '../../base/ipAddress.ts';
import { startTimeLimit } from '../../base/timeLimit.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { type Interfaces, oddity } from './hostAddresses.ts';

/** A node whose resolver does not answer starts without it, and looks again. */
const ANSWER_MS = 2_000;

interface Resolving {
  /** All addresses of a name. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly interfaces: () => Interfaces;
}

const byHost: Resolving = {
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  interfaces: networkInterfaces,
};

/**
 * Gives a function that tells the address at once, and asks anew for the next time: the name itself where that is an
 * address, or what the resolver of the host says, as far as it is an address of the host. Undefined: the name says nothing.
 */
export async function followedName(
  { nodeName, prefersIpv6 }: Pick<NodeConfig, 'nodeName' | 'prefersIpv6'>,
  { resolve, interfaces }: Resolving = byHost,
): Promise<() => string | undefined> {
  const literal = canonicalIp(nodeName);
  if (literal !== undefined) return () => literal;
  let known: string | undefined;
  let asking: Promise<void> | undefined;
  const look = async () => {
    const own = Object.values(interfaces()).flatMap((infos = []) => infos.map(({ address }) => address));
    try {
      const found = (await resolve(nodeName)).filter((address) => oddity(address, own) === undefined);
      known = found.find((address) => (ipFamily(address) === 6) === prefersIpv6) ?? found[0];
    } catch (error) {
      // Whoever cannot be asked now has not taken back what he said.
      if (isUnknownName(error)) known = undefined;
    }
  };
  const ask = () => {
    asking ??= look().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const limit = startTimeLimit(ANSWER_MS);
  await unlessAborted(ask(), limit.signal).catch(() => {});
  limit.clear();
  return () => {
    void ask();
    return known;
  };
}

const isUnknownName = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOTFOUND';
