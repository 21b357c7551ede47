import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../../kubernetes/api/schema/status.ts';
import { displayName } from '../../../kubernetes/shownName.ts';

/** Pod states that the "node ready" line counts. A `pending` pod may still become Ready. */
const POD_STATES = ['running', 'completed', 'pending', 'inBackOff', 'failing', 'failed', 'terminating'] as const;

type PodState = (typeof POD_STATES)[number];

/** The names of a node's pods, by pod state. */
export type NodeReadiness = ReadonlyMap<PodState, readonly string[]>;

/**
 * Running time in milliseconds after which a container that failed before is no longer considered failing. It equals
 * the first back-off delay.
 */
const TRUSTED_AFTER_MS = 10_000;

const isInBackOff = ({ state }: ContainerStatus): boolean => state?.waiting?.reason === 'CrashLoopBackOff';

/** Whether a container has failed, or was restarted after a failure so recently that the next failure is likely. */
function isFailing({ state, lastState }: ContainerStatus, now: number): boolean {
  if (state?.terminated) return state.terminated.exitCode !== 0;
  const hasFailedBefore = (lastState?.terminated?.exitCode ?? 0) !== 0;
  if (!hasFailedBefore || !state?.running?.startedAt) return hasFailedBefore;
  return now - Date.parse(state.running.startedAt) < TRUSTED_AFTER_MS;
}

function stateOf(pod: Pod, now: number): PodState {
  const { metadata, status } = pod;
  if (status?.phase === 'Succeeded') return 'completed';
  if (status?.phase === 'Failed') return 'failed';
  if (metadata.deletionTimestamp !== undefined) return 'terminating';
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  if (statuses.some(isInBackOff)) return 'inBackOff';
  if (statuses.some((container) => isFailing(container, now))) return 'failing';
  const isReady = (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return isReady ? 'running' : 'pending';
}

/** Groups pods by state. `now` is in milliseconds since the epoch. */
export const nodeReadiness = (pods: readonly Pod[], now: number): NodeReadiness =>
  new Map(
    [...Map.groupBy(pods, (pod) => stateOf(pod, now))].map(([state, podsInState]) => [
      state,
      podsInState.map(({ metadata }) => displayName(metadata)),
    ]),
  );

const countInState = (readiness: NodeReadiness, state: PodState): number => readiness.get(state)?.length ?? 0;

/** Texts for the states other than running and pending. */
const STATE_TEXTS = [
  ['completed', 'completed'],
  ['inBackOff', 'in CrashLoopBackOff'],
  ['failing', 'failing'],
  ['failed', 'failed'],
  ['terminating', 'terminating'],
] as const satisfies readonly (readonly [PodState, string])[];

/** Maximum number of pods per state whose names are listed. */
const MAX_NAMED_PODS = 3;

/**
 * Returns a summary such as `2/4 pods running, 1 completed, 1 in CrashLoopBackOff`. With `names`, a few pods with
 * problems are named.
 */
export function readinessText(readiness: NodeReadiness, { names = false } = {}): string {
  const podCount = POD_STATES.reduce((sum, state) => sum + countInState(readiness, state), 0);
  const otherStates = STATE_TEXTS.flatMap(([state, text]) => {
    const pods = readiness.get(state) ?? [];
    if (pods.length === 0) return [];
    const podNames = names && state !== 'completed' && pods.length <= MAX_NAMED_PODS ? ` (${pods.join(', ')})` : '';
    return [`${pods.length} ${text}${podNames}`];
  });
  return [`${countInState(readiness, 'running')}/${podCount} pods running`, ...otherStates].join(', ');
}

/** Whether no pod is pending, and at least one is running or has completed. */
const isNodeReady = (readiness: NodeReadiness): boolean =>
  countInState(readiness, 'pending') === 0 &&
  countInState(readiness, 'running') + countInState(readiness, 'completed') > 0;

/**
 * Time for which the counts must stay unchanged, in milliseconds. It is long enough for a container that crashes on
 * startup to fail.
 */
const SETTLED_AFTER_MS = 1000;

/** Returns a function that reports whether the node has been ready, with the same counts, for a second. */
export function createSettledCheck(): (readiness: NodeReadiness, now: number) => boolean {
  let settlingCounts: { readonly running: number; readonly completed: number; readonly since: number } | undefined;
  return (readiness, now) => {
    const [running, completed] = [countInState(readiness, 'running'), countInState(readiness, 'completed')];
    if (!isNodeReady(readiness)) settlingCounts = undefined;
    else if (settlingCounts?.running !== running || settlingCounts.completed !== completed) {
      settlingCounts = { running, completed, since: now };
    }
    return settlingCounts !== undefined && now - settlingCounts.since >= SETTLED_AFTER_MS;
  };
}
