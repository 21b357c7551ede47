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
/** A runtime that does not answer for so long at the start is taken to be down: nobody waits for the tries then. */
const RUNTIME_PATIENCE_MS = 10_000;
const CHECK_INTERVAL_MS = 100;
/**
 * Number of checks in a row that must find no change. Pods that ran before are shown only once their containers have been queried,
 * and a container may exit right after its start. Checks are counted instead of time, because on a busy host the agent may learn of
 * an exit late.
 */
const SETTLED_CHECKS = 10;

/** Waits until each pod runs, has succeeded or has failed, or until there is no more patience. */
export async function runOnce(agent: AgentPort, clock: Clock, signal: AbortSignal): Promise<OnceResult[]> {
  const end = clock.now() + PATIENCE_MS;
  const alarm = createAlarm(clock, signal);
  let unchangedChecks = 0;
  let answered = clock.now();
  let before: string | undefined;
  for (;;) {
    const isBegun = agent.node().tags.includes('active');
    const results = wantedOf(agent).map(resultOf);
    const now = JSON.stringify([isBegun, results]);
    unchangedChecks = now === before ? unchangedChecks + 1 : 0;
    before = now;
    const areSettled = unchangedChecks >= SETTLED_CHECKS && results.every(({ message }) => message !== '');
    if (isBegun || agent.node().runtime.state === 'ready') answered = clock.now();
    const isDown = clock.now() - answered >= RUNTIME_PATIENCE_MS;
    if ((isBegun && areSettled) || isDown || signal.aborted || clock.now() >= end)
      return [...wantedOf(agent).map(givenUp), ...problemsOf(agent), ...(isBegun ? [] : [notBegun(agent)])];
    await alarm.wait(clock.now() + CHECK_INTERVAL_MS);
  }
}

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

/** What the node waits for that has not begun: without the runtime it knows of no pod. */
function notBegun(agent: AgentPort): OnceResult {
  const { state, message } = agent.node().runtime;
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
