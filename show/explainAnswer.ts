import { humanDuration } from '../base/duration.ts';
import type { Failure } from '../base/failure.ts';
import { isTerminalPhase } from '../kubernetes/status/phase.ts';
import type { ActorNode } from './actorNode.ts';
import {
  endCause,
  failureText,
  forText,
  importAdvice,
  KIND_NAMES,
  momentText,
  type PlaceOf,
  queueText,
  shortened,
  spanText,
  untilText,
} from './explainText.ts';
import { hasNetwork, type PodActors, type SeenContainer } from './seenPod.ts';

/** The state from which an answer is derived. */
export interface Question {
  readonly actors: PodActors;
  readonly now: number;
  readonly placeOf: PlaceOf;
  /** Reason why the runtime is not ready, regardless of its network. Undefined while it is ready. */
  readonly runtimeNotReady: string | undefined;
}

/** An answer together with the failure that it mentions. */
interface Named {
  readonly text: string;
  readonly failure: Failure;
}

type Answer = string | Named | undefined;

/** Returns an answer, or undefined if the rule does not apply. */
export type Rule = (question: Question) => Answer;

/**
 * All rules in order of precedence. The first rule that applies gives the answer: reasons to stop the pod come first,
 * then failures, then plain waits.
 */
const RULES: readonly Rule[] = [
  refusal,
  hasEnded,
  nodeWait,
  isEnding,
  volumeFailure,
  podQueue,
  podFailure,
  containerProblem,
  volumeWait,
  podWait,
  isCompleting,
  containerWait,
  gatesUnmet,
];

/** Rules that hold even while the runtime is not ready, so their answers do not mention the runtime. */
const OF_ITSELF: readonly Rule[] = [refusal, hasEnded, nodeWait, gatesUnmet];

/** The rules that also explain a single container or volume of a pod. */
export const sharedRules = {
  refusal,
  hasEnded,
  nodeWait,
  isEnding,
  volumeFailure,
  podQueue,
  podFailure,
  containerProblem,
  volumeWait,
  podWait,
  containerWait,
} as const satisfies Readonly<Record<string, Rule>>;

/** Returns one sentence that answers "why is it not running?". */
export function answerOf(question: Question): string {
  const answer = firstAnswer(RULES, question);
  if (answer !== undefined) return answer;
  const { actors } = question;
  const lasting = actors.containers.filter(({ role }) => role === 'sidecar' || role === 'regular');
  const ready = lasting.filter(({ status }) => status?.ready).length;
  return `${named(actors)} is running, with ${ready} of ${lasting.length} containers ready`;
}

/** Returns the answer of the first rule that applies, or undefined if none does. */
export function firstAnswer(rules: readonly Rule[], question: Question): string | undefined {
  for (const rule of rules) {
    const answer = rule(question);
    if (answer === undefined) continue;
    const { text, failure } = typeof answer === 'string' ? { text: answer } : answer;
    return OF_ITSELF.includes(rule) ? text : `${text}${besides(failure, question)}`;
  }
  return undefined;
}

/** Returns a note that the runtime is not ready, unless the answer already mentions that failure. */
function besides(failure: Failure | undefined, { runtimeNotReady }: Question): string {
  if (runtimeNotReady === undefined || failure?.reason === 'RuntimeUnavailable') return '';
  return `; the container runtime is not ready: ${shortened(runtimeNotReady)}`;
}

/** Describes a failure, the time of the next attempt and, if an image cannot be pulled, the command that imports it. */
export const failing = (who: string, failure: Failure, until: number | undefined, now: number): Named => ({
  text: `${who}: ${failureText(failure)}${nextAttempt(until, now)}${adviceAfter(failure.reason)}`,
  failure,
});

function adviceAfter(reason: string): string {
  const advice = importAdvice(reason);
  return advice === undefined ? '' : `; ${advice}`;
}

const nextAttempt = (until: number | undefined, now: number): string =>
  until === undefined ? '' : `; next attempt at${momentText(until, now)}`;

const restart = ({ actor }: SeenContainer, now: number): string =>
  actor.until === undefined ? `; restarting${stillWaits(actor, now)}` : `; restarts at${momentText(actor.until, now)}`;

const named = ({ pod }: PodActors): string => `pod ${pod.metadata.name}`;

/** Returns the role and name of a container, e.g. `init container setup`. */
export const titled = ({ role, actor }: SeenContainer): string => `${KIND_NAMES[role]} ${actor.name}`;

function refusal({ actors }: Question): string | undefined {
  const { refused } = actors.tree;
  if (!refused) return undefined;
  const { reason, cause } = refused;
  const why =
    cause === undefined
      ? failureText(refused)
      : `it ${/^(?:requests|needs) /.test(cause) ? '' : 'cannot run: '}${cause} (${reason})`;
  return `${named(actors)} was rejected: ${why}; this is final until its manifest changes or the agent restarts`;
}

function hasEnded(question: Question): Answer {
  const { actors, now } = question;
  const { tags, termination } = actors.tree;
  const isReclaimed = tags.includes('reclaimed');
  const isFinal = tags.includes('ended') || isTerminalPhase(actors.pod.status?.phase);
  if (!isFinal || (termination && !isReclaimed)) return undefined;
  const end = endText(actors);
  return isReclaimed ? end : (slowest(`${end}; `, actors, now) ?? end);
}

/** Describes how a pod has ended. */
function endText(actors: PodActors): string {
  const { phase, reason, message = '' } = actors.pod.status ?? {};
  const cause = actors.tree.termination;
  if (cause && (cause.phase !== undefined || !isTerminalPhase(phase))) {
    return `${named(actors)} has ended: ${failureText({ reason: cause.reason, message: cause.message ?? '' })}`;
  }
  if (phase === 'Failed' && reason) return `${named(actors)} has failed: ${failureText({ reason, message })}`;
  if (phase === 'Succeeded') return `${named(actors)} has succeeded: every container exited with code 0`;
  for (const container of actors.containers) {
    const { lastRun } = container.actor;
    if (!lastRun || !container.status?.state?.terminated?.exitCode) continue;
    return `${named(actors)} has failed: ${titled(container)}: ${endCause(lastRun)}`;
  }
  return `${named(actors)} has ended`;
}

/** Applies if the node cannot start the pod yet because the runtime is not ready. */
function nodeWait(question: Question): Answer {
  return question.actors.tree.tags.includes('awaitingNode') ? podWait(question) : undefined;
}

function isEnding({ actors, now }: Question): Answer {
  const { tree, containers } = actors;
  if (!tree.termination) return undefined;
  const start = `${named(actors)} is terminating (${tree.termination.reason})`;
  const [first, ...others] = containers.filter(({ status }) => status?.state?.running);
  if (first) return stopping(start, { first, others: others.length, until: first.actor.until ?? tree.until, now });
  return slowest(`${start}: `, actors, now) ?? start;
}

/**
 * Applies if every regular container has completed but the pod is not reported as ended yet, because something of it
 * still runs.
 */
function isCompleting({ actors, now }: Question): Answer {
  const regular = actors.containers.filter(({ role }) => role === 'regular');
  const isOver = regular.every(({ status, willRestart }) => status?.state?.terminated !== undefined && !willRestart);
  if (!isOver || regular.length === 0) return undefined;
  const start = `${named(actors)} is completing`;
  return slowest(`${start}: `, actors, now) ?? start;
}

/** Describes what a pod is still waiting for after its containers have terminated. */
function slowest(start: string, { volumes, tree }: PodActors, now: number): Answer {
  const slow = [...volumes, tree].find(({ waitingFor }) => waitingFor !== undefined);
  if (!slow) return undefined;
  const who = `${start}${slow === tree ? '' : `volume ${slow.name} is `}waiting${forText(slow)}`;
  return retrying(who, slow, now) ?? `${who}${spanText(slow, now)}`;
}

interface Stop {
  readonly first: SeenContainer;
  readonly others: number;
  readonly until: number | undefined;
  readonly now: number;
}

/** Describes the first container that is still running, its remaining time and what it is waiting for. */
function stopping(start: string, { first, others, until, now }: Stop): Answer {
  const { actor } = first;
  const failed = retrying(`${start}: ${titled(first)} is waiting${forText(actor)}`, actor, now);
  if (failed) return failed;
  const who = others > 0 ? `${titled(first)} and ${others} more` : titled(first);
  const meanwhile =
    actor.waitingFor === undefined || actor.tags.includes('killing')
      ? ''
      : `; ${others > 0 ? actor.name : 'it'} is waiting${forText(actor)}`;
  if (actor.tags.includes('overdue')) return `${start}: waiting for the runtime to kill ${who}${untilText(until, now)}`;
  if (until === undefined) return `${start}: waiting for ${who} to stop${meanwhile}`;
  return `${start}: ${who} ${others > 0 ? 'have' : 'has'}${untilText(until, now)} to stop${meanwhile}`;
}

/** Describes the last failure of an actor that is waiting for its next attempt. */
export function retrying(who: string, { tags, lastFailure, until }: ActorNode, now: number): Named | undefined {
  return tags.includes('retrying') && lastFailure ? failing(who, lastFailure, until, now) : undefined;
}

/** Whether a volume has yet to be mounted. Volumes that the pod no longer uses do not count. */
const isUnmounted = ({ tags }: ActorNode): boolean => !tags.includes('mounted') && !tags.includes('leaving');

function volumeFailure({ actors, now }: Question): Answer {
  const volume = actors.volumes.find((each) => isUnmounted(each) && each.lastFailure !== undefined);
  if (!volume?.lastFailure) return undefined;
  return failing(`volume ${volume.name} is not mounted`, volume.lastFailure, volume.until, now);
}

function podQueue({ actors, placeOf }: Question): string | undefined {
  const place = placeOf();
  return place && `${named(actors)} is waiting ${queueText(place)}`;
}

function podFailure({ actors, now }: Question): Answer {
  const { pod, tree } = actors;
  if (!tree.lastFailure || hasNetwork(pod)) return undefined;
  return failing(`${named(actors)} is waiting${forText(tree)}`, tree.lastFailure, tree.until, now);
}

function containerProblem({ actors, now, placeOf }: Question): Answer {
  for (const container of actors.containers) {
    const place = placeOf(container.actor.name);
    if (place) return `${titled(container)} is waiting ${queueText(place)}`;
    const problem = problemOf(container, now);
    if (typeof problem === 'object') return { ...problem, text: `${titled(container)} ${problem.text}` };
    if (problem !== undefined) return `${titled(container)} ${problem}`;
  }
  return undefined;
}

function problemOf(container: SeenContainer, now: number): Answer {
  const { actor, status: { state = {} } = {}, willRestart } = container;
  const { lastRun, lastFailure, until } = actor;
  if (state.running) return undefined;
  if (state.terminated && lastRun) {
    if (lastRun.exitCode === 0 && !willRestart) return undefined;
    const end = `has terminated: ${endCause(lastRun)}`;
    return willRestart ? end + restart(container, now) : `${end}; it will not be restarted`;
  }
  const { reason } = state.waiting ?? {};
  // The reason remains in the status until the next start succeeds.
  if (reason === 'CrashLoopBackOff' && lastRun) {
    const repeats = lastRun.exitCode === 0 ? 'keeps exiting' : 'keeps failing';
    return `${until === undefined ? 'has terminated' : repeats}: ${endCause(lastRun)}${restart(container, now)}`;
  }
  if (reason === 'CrashLoopBackOff') return `is in back-off${untilText(until, now)}`;
  if (!lastFailure) return undefined;
  const what = reason === 'ImagePullBackOff' ? 'is in image pull back-off' : `is waiting${forText(actor)}`;
  return failing(what, lastFailure, until, now);
}

function volumeWait({ actors, now }: Question): string | undefined {
  const volume = actors.volumes.find(isUnmounted);
  if (!volume) return undefined;
  return `volume ${volume.name} is not mounted yet: waiting${forText(volume)}${spanText(volume, now)}`;
}

function podWait({ actors, now }: Question): string | undefined {
  const { pod, tree } = actors;
  if (tree.waitingFor === undefined || hasNetwork(pod)) return undefined;
  return `${named(actors)} is waiting${forText(tree)}${spanText(tree, now)}`;
}

function containerWait({ actors, now }: Question): Answer {
  const container = actors.containers.find(isBehind);
  if (!container) return undefined;
  const { actor, role, status: { state = {} } = {} } = container;
  if (!state.running) {
    const what = actor.waitingFor ? forText(actor) : `: ${state.waiting?.reason}`;
    return `${titled(container)} is waiting${what}${spanText(actor, now)}${adviceAfter(state.waiting?.reason ?? '')}`;
  }
  if (role === 'init')
    return `${titled(container)} has been running for ${humanDuration(now - actor.since)}; the other containers are waiting for it`;
  const start = `${titled(container)} is running but`;
  const failed = retrying(`${start} waiting${forText(actor)}`, actor, now);
  return failed ?? `${start} ${probeText(container, now) ?? `not ready${stillWaits(actor, now)}`}`;
}

/** Describes the last result of the probe that a running container is waiting for, and the time of the next attempt. */
function probeText({ actor, status }: SeenContainer, now: number): string | undefined {
  const kind = status?.started ? 'readiness' : 'startup';
  const probe = actor.children.find(({ machine, name }) => machine === 'probe' && name === kind);
  if (probe === undefined) return undefined;
  const { lastFailure, until, facts } = probe;
  const said = lastFailure ? shortened(lastFailure.message) : `its ${kind} probe has not passed yet`;
  // The number of failures of a startup probe shows how close the container is to being killed.
  const failures = kind === 'startup' ? facts.map((fact) => `, ${fact}`).join('') : '';
  return `${status?.started ? 'not ready' : 'has not started yet'}: ${said}${failures}${nextAttempt(until, now)}`;
}

/** Whether the pod is not ready because of this container. */
function isBehind({ role, status }: SeenContainer): boolean {
  if (role === 'ephemeral' || status === undefined || status.state?.terminated) return false;
  return role === 'init' || !status.ready;
}

function gatesUnmet({ actors }: Question): string | undefined {
  const ready = actors.pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.reason !== 'ReadinessGatesNotReady') return undefined;
  return `${named(actors)} is running but not ready: ${ready.message ?? ''}`;
}

const stillWaits = (actor: ActorNode, now: number): string =>
  actor.waitingFor ? `: waiting${forText(actor)}${untilText(actor.until, now)}` : '';
