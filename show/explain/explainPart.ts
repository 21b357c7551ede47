/**
 * Explains one container or volume of a pod, in contrast to the explanation of a whole pod, which covers only the most
 * severe problem.
 */
import { humanDuration } from '../../base/time/duration.ts';
import type { ActorNode } from '../actors/actorNode.ts';
import { type ContainerWithActor, containerNames, type PodWithTree, podActors } from '../actors/podActors.ts';
import { categoryOf } from '../category.ts';
import type { ExplainedActor, ExplanationContext } from '../explain.ts';
import { type LogTail, withLogTails } from '../logTail.ts';
import { containerStatusWord } from '../reason.ts';
import {
  containerTitle,
  describeFailure,
  describeRetry,
  firstAnswer,
  type Rule,
  type RuleInput,
  sharedRules,
} from './explainAnswer.ts';
import { forClause, queuePositions, terminationCause, waitDetails } from './explainText.ts';

/** Identifies a container or a volume of a pod. */
export interface PodPart {
  readonly kind: 'container' | 'volume';
  readonly name: string;
}

/** The reason for the current state of a container or a volume, as plain JSON. */
export interface PartExplanation extends PodPart {
  /** Namespace of the pod. */
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** Time that the explanation refers to, in milliseconds since the epoch. */
  readonly at: number;
  /** Value of kubectl's STATUS column. Undefined for volumes. */
  readonly status?: string;
  /** The restart count. Undefined for volumes. */
  readonly restarts?: number;
  /** One sentence that says what the container or volume is waiting for, or that it is running or mounted. */
  readonly answer: string;
  readonly actor: ExplainedActor;
}

const { refusal, hasEnded, nodeWait, isEnding, volumeFailure, podQueue, podFailure } = sharedRules;
const { containerProblem, volumeWait, podWaitText, containerWait } = sharedRules;

/**
 * The rules that explain a container, in order of precedence. The container's own state takes precedence over the
 * states of its pod that the container may be waiting for.
 */
const CONTAINER_RULES: readonly Rule[] = [
  refusal,
  nodeWait,
  containerProblem,
  containerSuccess,
  isEnding,
  runningContainer,
  hasEnded,
  volumeFailure,
  podQueue,
  podFailure,
  volumeWait,
  podWaitText,
  containerWait,
  containerOwnWait,
];

const VOLUME_RULES: readonly Rule[] = [refusal, nodeWait, mountedVolume, unmountingVolume, volumeFailure, volumeWait];

/** Returns the container to be explained. */
const inputContainer = ({ actors }: RuleInput): ContainerWithActor | undefined => actors.containers[0];
const inputVolume = ({ actors }: RuleInput): ActorNode | undefined => actors.volumes[0];

function containerSuccess(input: RuleInput): string | undefined {
  const container = inputContainer(input);
  const { lastRun } = container?.actor ?? {};
  if (!container?.status?.state?.terminated || container.willRestart || !lastRun) return undefined;
  return `${containerTitle(container)} has succeeded: ${terminationCause(lastRun)}`;
}

function runningContainer(input: RuleInput): ReturnType<Rule> {
  const container = inputContainer(input);
  const runningState = container?.status?.state?.running;
  if (!container || !runningState) return undefined;
  const { role, status, actor } = container;
  const readinessWait = containerWait(input);
  if (readinessWait !== undefined) return readinessWait;
  const readySuffix = status?.ready && role !== 'ephemeral' ? ' and ready' : '';
  const runningSince = Date.parse(runningState.startedAt ?? '') || actor.since;
  return `${containerTitle(container)} is running${readySuffix}, for ${humanDuration(input.now - runningSince)}`;
}

function containerOwnWait(input: RuleInput): string | undefined {
  const container = inputContainer(input);
  if (!container || container.actor.waitingFor === undefined) return undefined;
  return `${containerTitle(container)} is waiting${forClause(container.actor)}${waitDetails(container.actor, input.now)}`;
}

function mountedVolume(input: RuleInput): ReturnType<Rule> {
  const volume = inputVolume(input);
  if (!volume?.tags.includes('mounted')) return undefined;
  const prefix = `volume ${volume.name} is mounted`;
  if (volume.waitingFor === undefined) return prefix;
  const waitText = `${prefix}, and waiting${forClause(volume)}`;
  const { tags, lastFailure, until } = volume;
  // Describe the failure here, because `describeRetry` ignores that of a steady actor. A mounted volume stays steady
  // and usable for a while even if its token cannot be renewed.
  if (tags.includes('steady') && lastFailure) return describeFailure(waitText, lastFailure, until, input.now);
  return describeRetry(waitText, volume, input.now) ?? `${waitText}${waitDetails(volume, input.now)}`;
}

/** Applies to a volume that is being unmounted because its pod is terminating or no longer uses it. */
function unmountingVolume(input: RuleInput): ReturnType<Rule> {
  const volume = inputVolume(input);
  if (!volume?.tags.includes('leaving')) return undefined;
  if (categoryOf(volume) === 'done') return `volume ${volume.name} is unmounted`;
  const waitText = `volume ${volume.name} is waiting${forClause(volume)}`;
  return describeRetry(waitText, volume, input.now) ?? `${waitText}${waitDetails(volume, input.now)}`;
}

/** The context of an explanation, with the last log lines of the container's current run. */
interface PartContext extends ExplanationContext {
  readonly latestLog?: LogTail | undefined;
}

/** Explains a part of a pod. Returns undefined if the pod has no such part. */
export function explainPart(
  podWithTree: PodWithTree,
  { kind, name }: PodPart,
  now: number,
  { limiters = [], runtimeNotReady, logs = new Map(), latestLog }: PartContext = {},
): PartExplanation | undefined {
  const podActorsWithLogs = withLogTails(podActors(podWithTree), logs);
  const hasPartName = (each: ActorNode) => each.name === name;
  const containers = kind === 'container' ? podActorsWithLogs.containers.filter(({ actor }) => hasPartName(actor)) : [];
  const volumes = kind === 'volume' ? podActorsWithLogs.volumes.filter(hasPartName) : podActorsWithLogs.volumes;
  const [container] = containers;
  const actor = kind === 'container' ? container?.actor : volumes[0];
  if (actor === undefined) return undefined;
  const queuePositionOf = queuePositions(podWithTree.pod.metadata.uid, containerNames(podActorsWithLogs), limiters);
  const input = { actors: { ...podActorsWithLogs, containers, volumes }, now, queuePositionOf, runtimeNotReady };
  const [queue, log] = kind === 'container' ? [queuePositionOf(name), latestLog ?? logs.get(name)] : [];
  const { namespace, name: pod, uid } = podWithTree.pod.metadata;
  return {
    kind,
    name,
    namespace,
    pod,
    uid,
    at: now,
    ...(container ? { status: containerStatusWord(container), restarts: container.status?.restartCount ?? 0 } : {}),
    answer:
      firstAnswer(kind === 'container' ? CONTAINER_RULES : VOLUME_RULES, input) ?? `${kind} ${name}: ${actor.state}`,
    actor: { ...actor, ...(queue ? { queue } : {}), ...(log ? { log } : {}) },
  };
}

/** Returns the names of the pod's containers or volumes, so that an error message can list them. */
export const partNames = (podWithTree: PodWithTree, kind: PodPart['kind']): string[] => {
  const { containers, volumes } = podActors(podWithTree);
  return kind === 'volume' ? volumes.map(({ name }) => name) : containers.map(({ actor }) => actor.name);
};
