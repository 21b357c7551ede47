/** `run --runonce`: starts the pods of all sources once and reports their results. */

import { createAlarm } from '../../../actors/alarm.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { terminationCause } from '../../../show/explain/explainText.ts';
import type { AgentPort } from '../../../socket/agent.ts';

/** The result of a pod, or of a manifest without a valid pod. */
export interface PodResult {
  readonly name: string;
  readonly hasSucceeded: boolean;
  readonly message: string;
}

/** Total duration of the kubelet's ten attempts in milliseconds, with waits of 1 s, 2 s, 4 s and so on. */
const TIMEOUT_MS = (2 ** 10 - 1) * 1_000;
/** Time without a response after which the runtime is considered down, in milliseconds. */
const RUNTIME_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 100;
/**
 * Number of consecutive checks without a change before the results are final. One check is not enough, because pods
 * from an earlier run appear only after their containers have been queried, and a container may exit right after its
 * start.
 */
const SETTLED_CHECKS = 10;

/**
 * Waits until each pod is running, has succeeded or has failed, or until the timeout. A result is final only when a
 * fresh list from the runtime confirms it, because on a busy host the agent may learn of an exit late. The kubelet's
 * `runonce.go` also reads each pod's status from the runtime.
 */
export async function runOnce(agent: AgentPort, clock: Clock, signal: AbortSignal): Promise<PodResult[]> {
  const deadline = clock.now() + TIMEOUT_MS;
  const alarm = createAlarm(clock, signal);
  let unchangedChecks = 0;
  let runtimeReadyAt = clock.now();
  let previousResults: string | undefined;
  for (;;) {
    const hasStarted = agent.node().tags.includes('active');
    const currentResults = resultsKey(agent);
    unchangedChecks = currentResults === previousResults ? unchangedChecks + 1 : 0;
    previousResults = currentResults;
    const arePodsSettled =
      unchangedChecks >= SETTLED_CHECKS && activePods(agent).every((pod) => resultOf(pod).message !== '');
    if (hasStarted && arePodsSettled && (await agent.confirmPods(signal)) && resultsKey(agent) === currentResults) {
      return [...activePods(agent).map(resultOf), ...problemsOf(agent)];
    }
    if (agent.node().runtime.state === 'ready') runtimeReadyAt = clock.now();
    const isRuntimeDown = clock.now() - runtimeReadyAt >= RUNTIME_TIMEOUT_MS;
    if (isRuntimeDown || signal.aborted || clock.now() >= deadline) {
      const podResults = [...activePods(agent).map(timedOutResult), ...problemsOf(agent)];
      const hasExplainedFailure =
        podResults.some(({ hasSucceeded }) => !hasSucceeded) && agent.node().runtime.state === 'ready';
      return hasExplainedFailure ? podResults : [...podResults, unconfirmedResult(agent)];
    }
    await alarm.waitUntil(clock.now() + CHECK_INTERVAL_MS);
  }
}

/** Returns a comparison key that changes when a result changes or the node starts to run pods. */
const resultsKey = (agent: AgentPort): string =>
  JSON.stringify([agent.node().tags.includes('active'), activePods(agent).map(resultOf)]);

const activePods = (agent: AgentPort): Pod[] => agent.pods().filter(({ metadata }) => !metadata.deletionTimestamp);

/** Returns the result of a pod. The message is empty while there is no result yet. */
function resultOf({ metadata, status }: Pod): PodResult {
  const name = `pod ${metadata.namespace}/${metadata.name}`;
  const containers = status?.containerStatuses ?? [];
  const areAllRunning = containers.length > 0 && containers.every(({ state }) => state?.running);
  if (status?.phase === 'Succeeded' || (status?.phase === 'Running' && areAllRunning)) {
    return { name, hasSucceeded: true, message: status.phase };
  }
  const why = [status?.reason, status?.message, ...containers.map(({ state }) => terminationText(state))]
    .filter(Boolean)
    .join(': ');
  return {
    name,
    hasSucceeded: false,
    message: status?.phase === 'Failed' ? ['Failed', why].filter(Boolean).join(': ') : '',
  };
}

function timedOutResult(pod: Pod): PodResult {
  const podResult = resultOf(pod);
  if (podResult.message !== '') return podResult;
  const waitingReasons = (pod.status?.containerStatuses ?? []).flatMap(({ state }) => state?.waiting?.reason ?? []);
  return {
    ...podResult,
    message: [`${pod.status?.phase ?? 'Pending'}, gave up waiting`, ...new Set(waitingReasons)].join(': '),
  };
}

type ContainerStatusState = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state'];

function terminationText(state: ContainerStatusState): string {
  const terminated = state?.terminated;
  if (!terminated || terminated.exitCode === 0) return '';
  const { exitCode, signal, reason = '', message } = terminated;
  return terminationCause({
    exitCode,
    reason,
    ...(signal === undefined ? {} : { signal }),
    ...(message === undefined ? {} : { message }),
  });
}

/** Explains why the results could not be confirmed. */
function unconfirmedResult(agent: AgentPort): PodResult {
  const { state, message } = agent.node().runtime;
  if (state === 'ready') {
    return { name: 'node', hasSucceeded: false, message: 'gave up before the container runtime confirmed the pods' };
  }
  const why = [`the container runtime is ${state}`, message].filter(Boolean).join(': ');
  return { name: 'node', hasSucceeded: false, message: why };
}

/** Returns a result for each rejected manifest, and for the manifest path if it does not exist. */
const problemsOf = (agent: AgentPort): PodResult[] =>
  [...agent.node().problems, ...agent.node().warnings.filter(({ path }) => path === '')].map(
    ({ file, path, message }) => ({
      name: file,
      hasSucceeded: false,
      message: path === '' ? message : `${path}: ${message}`,
    }),
  );
