/** `run --runonce`: the pods of the sources are started once, waited for and reported. */

import { createAlarm } from '../../../actors/alarm.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { endCause } from '../../../show/explain/explainText.ts';
import type { AgentPort } from '../../../socket/agent.ts';

/** What became of a pod, or of a manifest that gave none. */
export interface OnceResult {
  readonly name: string;
  readonly isGood: boolean;
  readonly message: string;
}

/** A kubelet's ten tries, the first wait being a second and each next one twice as long. */
const PATIENCE_MS = (2 ** 10 - 1) * 1_000;
/** A runtime that does not respond for this long, in milliseconds, is considered down. */
const RUNTIME_PATIENCE_MS = 10_000;
const CHECK_INTERVAL_MS = 100;
/**
 * Number of checks in a row that must find no change. Pods that ran before are shown only once their containers have been queried,
 * and a container may exit right after its start.
 */
const SETTLED_CHECKS = 10;

/**
 * Waits until each pod runs, has succeeded or has failed, or until there is no more patience. Like the kubelet's `runonce.go`, which
 * reads the status of each pod from the runtime, it reports a result only if a new list of the runtime's objects confirms it, because
 * on a busy host the agent may learn of an exit late.
 */
export async function runOnce(agent: AgentPort, clock: Clock, signal: AbortSignal): Promise<OnceResult[]> {
  const end = clock.now() + PATIENCE_MS;
  const alarm = createAlarm(clock, signal);
  let unchangedChecks = 0;
  let answered = clock.now();
  let before: string | undefined;
  for (;;) {
    const isBegun = agent.node().tags.includes('active');
    const now = resultsText(agent);
    unchangedChecks = now === before ? unchangedChecks + 1 : 0;
    before = now;
    const areSettled =
      unchangedChecks >= SETTLED_CHECKS && wantedOf(agent).every((pod) => resultOf(pod).message !== '');
    if (isBegun && areSettled && (await agent.confirmPods(signal)) && resultsText(agent) === now) {
      return [...wantedOf(agent).map(resultOf), ...problemsOf(agent)];
    }
    if (agent.node().runtime.state === 'ready') answered = clock.now();
    const isDown = clock.now() - answered >= RUNTIME_PATIENCE_MS;
    if (isDown || signal.aborted || clock.now() >= end) {
      const results = [...wantedOf(agent).map(givenUp), ...problemsOf(agent)];
      const isExplained = results.some(({ isGood }) => !isGood) && agent.node().runtime.state === 'ready';
      return isExplained ? results : [...results, unconfirmed(agent)];
    }
    await alarm.wait(clock.now() + CHECK_INTERVAL_MS);
  }
}

/** Changes whenever the results do, or the node starts to run pods. */
const resultsText = (agent: AgentPort): string =>
  JSON.stringify([agent.node().tags.includes('active'), wantedOf(agent).map(resultOf)]);

const wantedOf = (agent: AgentPort): Pod[] => agent.pods().filter(({ metadata }) => !metadata.deletionTimestamp);

/** How it stands; without a message while it is on its way. */
function resultOf({ metadata, status }: Pod): OnceResult {
  const name = `pod ${metadata.namespace}/${metadata.name}`;
  const containers = status?.containerStatuses ?? [];
  const allRun = containers.length > 0 && containers.every(({ state }) => state?.running);
  if (status?.phase === 'Succeeded' || (status?.phase === 'Running' && allRun)) {
    return { name, isGood: true, message: status.phase };
  }
  const why = [status?.reason, status?.message, ...containers.map(({ state }) => endOf(state))]
    .filter(Boolean)
    .join(': ');
  return { name, isGood: false, message: status?.phase === 'Failed' ? ['Failed', why].filter(Boolean).join(': ') : '' };
}

function givenUp(pod: Pod): OnceResult {
  const result = resultOf(pod);
  if (result.message !== '') return result;
  const waits = (pod.status?.containerStatuses ?? []).flatMap(({ state }) => state?.waiting?.reason ?? []);
  return { ...result, message: [`${pod.status?.phase ?? 'Pending'}, gave up waiting`, ...new Set(waits)].join(': ') };
}

type State = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state'];

function endOf(state: State): string {
  const end = state?.terminated;
  if (!end || end.exitCode === 0) return '';
  const { exitCode, signal, reason = '', message } = end;
  return endCause({
    exitCode,
    reason,
    ...(signal === undefined ? {} : { signal }),
    ...(message === undefined ? {} : { message }),
  });
}

/** Why the results are not known to be true. */
function unconfirmed(agent: AgentPort): OnceResult {
  const { state, message } = agent.node().runtime;
  if (state === 'ready') {
    return { name: 'node', isGood: false, message: 'gave up before the container runtime confirmed the pods' };
  }
  const why = [`the container runtime is ${state}`, message].filter(Boolean).join(': ');
  return { name: 'node', isGood: false, message: why };
}

/** Manifests that are not used, and a manifest path at which nothing is. */
const problemsOf = (agent: AgentPort): OnceResult[] =>
  [...agent.node().problems, ...agent.node().warnings.filter(({ path }) => path === '')].map(
    ({ file, path, message }) => ({
      name: file,
      isGood: false,
      message: path === '' ? message : `${path}: ${message}`,
    }),
  );
