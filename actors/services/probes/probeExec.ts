/** Probes a container by running a command in it. */

import { NodeFailure } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import { expandAll } from '../../../kubernetes/environment/environment.ts';
import type { ProbeAttempt } from './probeAttempt.ts';

const MAX_OUTPUT_BYTES = 10 * 1024;

/** Runs the command of a probe. Exit code 0 is success. A timeout is a failure, regardless of the command's output. */
export async function probeExec(
  cri: Cri,
  {
    container,
    id,
    command,
  }: { readonly container: Container; readonly id: string; readonly command: readonly string[] },
  { timeoutSeconds, signal }: { readonly timeoutSeconds: number; readonly signal: AbortSignal },
): Promise<ProbeAttempt> {
  // Like the kubelet, expand only values that are written in the spec. A variable with `valueFrom` becomes "" here
  // (`ExpandContainerCommandOnlyStatic` in `pkg/kubelet/container/helpers.go`).
  const values = new Map((container.env ?? []).map(({ name, value = '' }) => [name, value]));
  const cmd = expandAll(command, values, 'exec.command', true);
  try {
    const { exitCode, stdout, stderr } = await cri.execSync(
      { containerId: id, cmd, timeout: BigInt(timeoutSeconds) },
      { signal },
    );
    const message = Buffer.concat([stdout, stderr]).toString('utf8', 0, MAX_OUTPUT_BYTES);
    return { result: exitCode === 0 ? 'success' : 'failure', message };
  } catch (error) {
    if (!(error instanceof NodeFailure && error.reason === 'DeadlineExceeded')) throw error;
    const message = `command timed out: ${JSON.stringify(cmd.join(' '))} timed out after ${timeoutSeconds}s`;
    return { result: 'failure', message };
  }
}
