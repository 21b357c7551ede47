import { NodeFailure } from '../../../base/failure.ts';
import { ProgramFailure } from '../../../host/program.ts';
import type { Layout } from '../layout.ts';
import { run } from '../program.ts';

/**
 * Ensures that traffic from a subnet to other networks is masqueraded, with a single iptables rule for all pods. The
 * CNI bridge plugin would create a chain per pod, which slows down every start and remains if the start is interrupted.
 */
export async function enableMasquerade({ network }: Layout, subnet: string, signal: AbortSignal): Promise<void> {
  const rule = masqueradeRule(network, subnet);
  const editNatTable = (action: string) =>
    run('iptables', ['--wait', LOCK_TIMEOUT_SECONDS, '--table', 'nat', action, 'POSTROUTING', ...rule], { signal });
  await editNatTable('--check').catch((error: unknown) => {
    if (!isMissingRule(error)) throw error;
    return editNatTable('--append');
  });
}

/** Maximum wait for the iptables lock, in seconds. The command fails when it is exceeded. */
const LOCK_TIMEOUT_SECONDS = '5';

/** Whether iptables reported that the rule does not exist. Other exit codes mean that the check failed. */
function isMissingRule(error: unknown): boolean {
  const cause = error instanceof NodeFailure ? error.cause : undefined;
  return cause instanceof ProgramFailure && cause.exitCode === 1;
}

/**
 * Returns the iptables options that match packets from the subnet to other networks, except multicast. The comment
 * identifies the network to which the rule belongs.
 */
const masqueradeRule = (network: string, subnet: string): string[] => [
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
