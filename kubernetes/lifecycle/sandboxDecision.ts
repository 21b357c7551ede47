import type { Pod } from '../api/schema/pod.ts';
import type { ObservedPod, ObservedSandbox } from './observed.ts';

export interface SandboxDecisionInput {
  readonly pod: Pod;
  /** All that the runtime shows of the pod, the newest first; absent when it shows nothing. */
  readonly observed?: Pick<ObservedPod, 'sandboxes' | 'containers'>;
  /** Whether any regular container of the pod has yet to run or is to run again. */
  readonly somethingToStart: boolean;
  /** An exit calls for all of its containers to restart (C5), also those that run only once. */
  readonly restartsAll?: boolean;
}

/** What becomes of the pod's sandbox: it stays, a new one with this attempt takes its place, or none is needed. */
type SandboxDecision = 'keep' | 'none' | { readonly recreate: number; readonly reason: string };

/** Whether the pod can live in the sandbox that it has (C8). What a list does not tell (addresses) is taken for good. */
export function sandboxDecision(input: SandboxDecisionInput): SandboxDecision {
  const { pod, observed, somethingToStart, restartsAll = false } = input;
  const { sandboxes = [], containers = [] } = observed ?? {};
  const newest = sandboxes.reduce<ObservedSandbox | undefined>(newer, undefined);
  const flaw = flawOf(pod, sandboxes, newest);
  if (flaw === undefined) return 'keep';
  // To have been made is enough, as on a kubelet; where no sandbox is left either, something must have run.
  const wereMade = containers.some(({ state }) => newest !== undefined || state !== 'created');
  const isOver = (pod.spec.restartPolicy === 'Never' && wereMade) || !somethingToStart;
  if (isOver && !restartsAll) return 'none';
  return { recreate: newest ? newest.attempt + 1 : 0, reason: flaw };
}

function newer(newest: ObservedSandbox | undefined, next: ObservedSandbox): ObservedSandbox {
  return newest && newest.attempt >= next.attempt ? newest : next;
}

function flawOf(pod: Pod, sandboxes: readonly ObservedSandbox[], newest?: ObservedSandbox): string | undefined {
  if (!newest) return 'the pod has no sandbox yet';
  if (sandboxes.filter(({ state }) => state === 'ready').length > 1) return 'more than one sandbox is ready';
  if (newest.state !== 'ready') return 'the sandbox is not ready';
  const wantsHost = pod.spec.hostNetwork === true;
  if (newest.hostNetwork !== undefined && newest.hostNetwork !== wantsHost) return 'the network mode changed';
  if (!wantsHost && newest.ips?.length === 0) return 'the sandbox has no address';
  return undefined;
}
