/** Explains one container or one volume of a pod: the pod's explanation is about the worst of them. */
import { humanDuration } from '../base/duration.ts';
import type { ActorNode } from './actorNode.ts';
import { categoryOf } from './category.ts';
import type { ExplainedActor, Surroundings } from './explain.ts';
import { failing, firstAnswer, type Question, type Rule, retrying, sharedRules, titled } from './explainAnswer.ts';
import { endCause, forText, queuePlaces, spanText } from './explainText.ts';
import { type LogTail, withLogTails } from './logTail.ts';
import { containerWord } from './reason.ts';
import { containerNames, podActors, type SeenContainer, type SeenPod } from './seenPod.ts';

/** Which part of a pod is meant. */
export interface PodPart {
  readonly kind: 'container' | 'volume';
  readonly name: string;
}

/** Why a container or a volume is where it is, as plain JSON. */
export interface PartExplanation extends PodPart {
  /** Of its pod. */
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** The moment that it explains, in milliseconds since the epoch. */
  readonly at: number;
  /** Of a container: the word of kubectl's column STATUS that it would have, and how often it was started again. */
  readonly status?: string;
  readonly restarts?: number;
  /** One sentence: what keeps it, or that nothing does. */
  readonly answer: string;
  readonly actor: ExplainedActor;
}

const { refusal, hasEnded, nodeWait, isEnding, volumeFailure, podQueue, podFailure } = sharedRules;
const { containerProblem, volumeWait, podWait, containerWait } = sharedRules;

/** Of a question about one container: its own state, then what of its pod it waits for. */
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

/** The one that a question is about. */
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
  // A token that could not be renewed goes on for a while.
  if (tags.includes('steady') && lastFailure) return failing(waits, lastFailure, until, question.now);
  return retrying(waits, volume, question.now) ?? `${waits}${spanText(volume, question.now)}`;
}

/** The answer for a volume of a pod that ends, or that its pod does not use any more. */
function unmounting(question: Question): ReturnType<Rule> {
  const volume = volumeIn(question);
  if (!volume?.tags.includes('leaving')) return undefined;
  if (categoryOf(volume) === 'done') return `volume ${volume.name} is unmounted`;
  const waits = `volume ${volume.name} is waiting${forText(volume)}`;
  return retrying(waits, volume, question.now) ?? `${waits}${spanText(volume, question.now)}`;
}

/** What an explanation of a part takes into account; `latestLog` is how the log of the container ends now. */
interface PartSurroundings extends Surroundings {
  readonly latestLog?: LogTail | undefined;
}

/** Explains a part of a pod as `explainPod` does the pod; undefined where the pod has no such part. */
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

/** The parts of this kind that a pod has, for who asked for another. */
export const partsOf = (seen: SeenPod, kind: PodPart['kind']): string[] => {
  const { containers, volumes } = podActors(seen);
  return kind === 'volume' ? volumes.map(({ name }) => name) : containers.map(({ actor }) => actor.name);
};
