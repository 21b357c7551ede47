import { NodeFailure } from '../../base/failure.ts';
import { ProgramFailure } from '../../host/program.ts';
import type { Layout } from './layout.ts';
import { run } from './program.ts';

/**
 * Lets the pods of a subnet out under the host's address, by one rule for all. A chain for each pod, as CNI's bridge
 * makes them, costs time at each start, and stays when the making of a pod's network is interrupted.
 */
export async function masquerade({ network }: Layout, subnet: string, signal: AbortSignal): Promise<void> {
  const rule = ruleFor(network, subnet);
  const nat = (action: string) =>
    run('iptables', ['--wait', LOCK_SECONDS, '--table', 'nat', action, 'POSTROUTING', ...rule], { signal });
  await nat('--check').catch((error: unknown) => {
    if (!isMissingRule(error)) throw error;
    return nat('--append');
  });
}

/** How long another may hold the lock of the tables. */
const LOCK_SECONDS = '5';

/** With 1 it says that there is no such rule; with others that it could not look. */
function isMissingRule(error: unknown): boolean {
  const cause = error instanceof NodeFailure ? error.cause : undefined;
  return cause instanceof ProgramFailure && cause.exitCode === 1;
}

/** What leaves the subnet and is not multicast, with the comment by which all of a network is found again. */
const ruleFor = (network: string, subnet: string): string[] => [
  '--source',
  subnet,
  '!',
  '--destination',
  subnet,
  '--match',
  'addrtype',
  '!',
  '--dst-type',
  'MULTICAST',
  '--match',
  'comment',
  '--comment',
  `name: "${network}"`,
  '--jump',
  'MASQUERADE',
];
