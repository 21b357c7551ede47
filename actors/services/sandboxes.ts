/** Fills the ports of a pod's sandbox over the CRI. */
import type { CallOptions, Cri } from '../../cri/calls.ts';
import { POD_UID_LABEL } from '../../cri/labels.ts';
import type { NodeFacts } from '../../cri/nodeFacts.ts';
import { observedSandbox, observedSandboxStatus } from '../../cri/observe.ts';
import { sandboxConfig } from '../../cri/sandboxConfig.ts';
import { NodeFailure } from '../../pod/failure.ts';
import type { ObservedSandbox } from '../../pod/observed.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import type { Services } from '../boundary.ts';

/** A network plugin may take long, and what it began must be known to be undone. */
const RUN_TIMEOUT_MS = 240_000;

type SandboxServices = Pick<Services, 'runSandbox' | 'inspectSandbox' | 'stopSandboxes' | 'removeSandboxes'>;

export function sandboxServices(cri: Cri, node: NodeFacts): SandboxServices {
  return {
    runSandbox: async ({ pod, attempt }, { signal }) => {
      const id = await runSandbox(cri, node, { pod, attempt, signal });
      const sandbox = await inspect(cri, id, { signal });
      if (sandbox !== null) return sandbox;
      throw new NodeFailure('FailedPodSandBoxStatus', `the runtime does not know the sandbox ${id} that it just ran`);
    },
    inspectSandbox: ({ id }, options) => inspect(cri, id, options),
    stopSandboxes: async ({ ids }, options) => {
      await Promise.all(ids.map((podSandboxId) => cri.stopPodSandbox({ podSandboxId }, options).catch(unlessGone)));
      return null;
    },
    removeSandboxes: async ({ ids }, options) => {
      await Promise.all(ids.map((podSandboxId) => cri.removePodSandbox({ podSandboxId }, options).catch(unlessGone)));
      return null;
    },
  };
}

/** For calls that must be idempotent: what is not there needs no stopping and no removing. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof NodeFailure && error.reason === 'NotFound')) throw error;
}

/** Runs a sandbox; one of this pod and attempt that an earlier call made, its answer lost, is taken or cleared away. */
async function runSandbox(
  cri: Cri,
  node: NodeFacts,
  { pod, attempt, signal }: { pod: Pod; attempt: number; signal: AbortSignal },
): Promise<string> {
  const config = sandboxConfig(pod, attempt, node);
  const run = async () =>
    (await cri.runPodSandbox({ config, runtimeHandler: '' }, { signal, timeoutMs: RUN_TIMEOUT_MS })).podSandboxId;
  try {
    return await run();
  } catch (error) {
    if (!isNameReserved(error)) throw failedSandbox(error);
    const earlier = await findAttempt(cri, pod, attempt, { signal });
    if (earlier?.state === 'ready') return earlier.id;
    if (earlier === undefined) throw failedSandbox(error);
    await cri.stopPodSandbox({ podSandboxId: earlier.id }, { signal }).catch(unlessGone);
    await cri.removePodSandbox({ podSandboxId: earlier.id }, { signal }).catch(unlessGone);
    return run().catch((again) => {
      throw failedSandbox(again);
    });
  }
}

async function findAttempt(cri: Cri, pod: Pod, attempt: number, options: CallOptions) {
  const labelSelector = { [POD_UID_LABEL]: pod.metadata.uid };
  const { items } = await cri.listPodSandbox({ filter: { id: '', state: undefined, labelSelector } }, options);
  return items.map(observedSandbox).find((sandbox) => sandbox?.attempt === attempt);
}

async function inspect(cri: Cri, podSandboxId: string, options: CallOptions): Promise<ObservedSandbox | null> {
  try {
    const { status } = await cri.podSandboxStatus({ podSandboxId, verbose: false }, options);
    return (status && observedSandboxStatus(status)) ?? null;
  } catch (error) {
    unlessGone(error);
    return null;
  }
}

/** Runtimes name the holder of a reserved name in the message; there is no code for it. */
export const isNameReserved = (error: unknown): boolean =>
  error instanceof NodeFailure &&
  error.reason === 'RuntimeError' &&
  /is reserved for|already exists/.test(error.message);

function failedSandbox(cause: unknown): unknown {
  if (!(cause instanceof NodeFailure) || cause.reason === 'RuntimeUnavailable') return cause;
  return new NodeFailure('FailedCreatePodSandBox', `Failed to create pod sandbox: ${cause.message}`, { cause });
}
