import type { Layout } from './layout.ts';
import { run } from './program.ts';

/**
 * Lets the pods of a subnet out under the host's address, by one rule for all. A chain for each pod, as CNI's bridge
 * makes them, costs time at each start, and stays when the making of a pod's network is interrupted.
 */
export async function masquerade({ network }: Layout, subnet: string, signal: AbortSignal): Promise<void> {
  const rule = ruleFor(network, subnet);
  const nat = (action: string) =>
    run('iptables', ['--wait', '--table', 'nat', action, 'POSTROUTING', ...rule], { signal });
  // It answers with a failure where there is none.
  await nat('--check').catch(() => nat('--append'));
}

/** What leaves the subnet and is not multicast, with the comment by which all of a network is found again. */
const ruleFor = (network: string, subnet: string): string[] => [
  ...['--source', subnet, '!', '--destination', subnet],
  ...['--match', 'addrtype', '!', '--dst-type', 'MULTICAST'],
  ...['--match', 'comment', '--comment', `name: "${network}"`, '--jump', 'MASQUERADE'],
];
