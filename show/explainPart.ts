/**
 * Explains one container or volume of a pod, whereas the explanation of the pod only covers the most severe problem.
 */
import { humanDuration } from '../base/duration.ts';
import type { ActorNode } from './actorNode.ts';
import { categoryOf } from './category.ts';
import type { ExplainedActor, Surroundings } from './explain.ts';
import { failing, firstAnswer, type Question, type Rule, retrying, sharedRules, titled } from './explainAnswer.ts';
import { endCause, forText, queuePlaces, spanText } from './explainText.ts';
import { type LogTail, withLogTails } from './logTail.ts';
import { containerWord } from './reason.ts';
import { containerNames, podActors, type SeenContainer, type SeenPod } from './seenPod.ts';

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
  /** The cell of kubectl's column STATUS and the restart count. Only containers have them. */
  readonly status?: string;
  readonly restarts?: number;
  /** One sentence that says what the part is waiting for, or that it runs. */
  readonly answer: string;
  readonly actor: ExplainedActor;
}

const { refusal, hasEnded, nodeWait, isEnding, volumeFailure, podQueue, podFailure } = sharedRules;
const { containerProblem, volumeWait, podWait, containerWait } = sharedRules;

/**
 * The rules for one container in order of precedence. Its own state comes before the states of the pod that it may wait
 * for.
 */
const OF_CONTAINER: readonly Rule[] = [
  refusal,
  nodeWait,
  containerProblem,
  success,
  isEnding,
  containerRuns,
  hasEnded,
  volumeFailure,
  podQueue,
  podFailure,
  volumeWait,
  podWait,
  containerWait,
  anyWait,
];

const OF_VOLUME: readonly Rule[] = [refusal, nodeWait, mounted, unmounting, volumeFailure, volumeWait];

/** The container that the question is about. */
const containerIn = ({ actors }: Question): SeenContainer | undefined => actors.containers[0];
const volumeIn = ({ actors }: Question): ActorNode | undefined => actors.volumes[0];

function success(question: Question): string | undefined {
  const container = containerIn(question);
  const { lastRun } = container?.actor ?? {};
  if (!container?.status?.state?.terminated || container.willRestart || !lastRun) return undefined;
  return `${titled(container)} has succeeded: ${endCause(lastRun)}`;
}

function containerRuns(question: Question): ReturnType<Rule> {
  const container = containerIn(question);
  const running = container?.status?.state?.running;
  if (!container || !running) return undefined;
  const { role, status, actor } = container;
  const behind = containerWait(question);
  if (behind !== undefined) return behind;
  const isReady = status?.ready && role !== 'ephemeral' ? ' and ready' : '';
  const since = Date.parse(running.startedAt ?? '') || actor.since;
  return `${titled(container)} is running${isReady}, for ${humanDuration(question.now - since)}`;
}

function anyWait(question: Question): string | undefined {
  const container = containerIn(question);
  if (!container || container.actor.waitingFor === undefined) return undefined;
  return `${titled(container)} is waiting${forText(container.actor)}${spanText(container.actor, question.now)}`;
}

function mounted(question: Question): ReturnType<Rule> {
  const volume = volumeIn(question);
  if (!volume?.tags.includes('mounted')) return undefined;
  const start = `volume ${volume.name} is mounted`;
  if (volume.waitingFor === undefined) return start;
  const waits = `${start}, and waiting${forText(volume)}`;
  const { tags, lastFailure, until } = volume;
  // A mounted volume stays usable for a while if its token cannot be renewed.
  if (tags.includes('steady') && lastFailure) return failing(waits, lastFailure, until, question.now);
  return retrying(waits, volume, question.now) ?? `${waits}${spanText(volume, question.now)}`;
}

/** Applies to a volume that is being unmounted because its pod is terminating or no longer uses it. */
function unmounting(question: Question): ReturnType<Rule> {
  const volume = volumeIn(question);
  if (!volume?.tags.includes('leaving')) return undefined;
  if (categoryOf(volume) === 'done') return `volume ${volume.name} is unmounted`;
  const waits = `volume ${volume.name} is waiting${forText(volume)}`;
  return retrying(waits, volume, question.now) ?? `${waits}${spanText(volume, question.now)}`;
}

/** Adds the last log lines of the container's current run. */
interface PartSurroundings extends Surroundings {
  readonly latestLog?: LogTail | undefined;
}

/** Explains a part of a pod. Returns undefined if the pod has no such part. */
export function explainPart(
  seen: SeenPod,
  { kind, name }: PodPart,
  now: number,
  { limiters = [], runtimeNotReady, logs = new Map(), latestLog }: PartSurroundings = {},
): PartExplanation | undefined {
  const all = withLogTails(podActors(seen), logs);
  const isIt = (each: ActorNode) => each.name === name;
  const containers = kind === 'container' ? all.containers.filter(({ actor }) => isIt(actor)) : [];
  const volumes = kind === 'volume' ? all.volumes.filter(isIt) : all.volumes;
  const [container] = containers;
  const actor = kind === 'container' ? container?.actor : volumes[0];
  if (actor === undefined) return undefined;
  const placeOf = queuePlaces(seen.pod.metadata.uid, containerNames(all), limiters);
  const question = { actors: { ...all, containers, volumes }, now, placeOf, runtimeNotReady };
  const [queue, log] = kind === 'container' ? [placeOf(name), latestLog ?? logs.get(name)] : [];
  const { namespace, name: pod, uid } = seen.pod.metadata;
  return {
    kind,
    name,
    namespace,
    pod,
    uid,
    at: now,
    ...(container ? { status: containerWord(container), restarts: container.status?.restartCount ?? 0 } : {}),
    answer: firstAnswer(kind === 'container' ? OF_CONTAINER : OF_VOLUME, question) ?? `${kind} ${name}: ${actor.state}`,
    actor: { ...actor, ...(queue ? { queue } : {}), ...(log ? { log } : {}) },
  };
}

/** Returns the names of all parts of a kind, so that an error message can list them. */
export const partsOf = (seen: SeenPod, kind: PodPart['kind']): string[] => {
  const { containers, volumes } = podActors(seen);
  return kind === 'volume' ? volumes.map(({ name }) => name) : containers.map(({ actor }) => actor.name);
};
