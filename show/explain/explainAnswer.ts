import type { Failure } from '../../base/failure.ts';
import { humanDuration } from '../../base/time/duration.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';
import type { ActorNode } from '../actors/actorNode.ts';
import { type ContainerWithActor, hasNetwork, type PodActors } from '../actors/podActors.ts';
import {
  failureText,
  forClause,
  importAdvice,
  KIND_NAMES,
  type QueueLookup,
  queueText,
  shortenMessage,
  terminationCause,
  timeWithDistance,
  untilClause,
  waitDetails,
} from './explainText.ts';

/** The state from which an answer is derived. */
export interface RuleInput {
  readonly actors: PodActors;
  readonly now: number;
  readonly queuePositionOf: QueueLookup;
  /** Reason why the runtime is not ready, other than a missing network. Undefined if there is no such reason. */
  readonly runtimeNotReady: string | undefined;
}

/** An answer together with the failure that it mentions. */
interface AnswerWithFailure {
  readonly text: string;
  readonly failure: Failure;
}

type Answer = string | AnswerWithFailure | undefined;

/** Returns an answer, or undefined if the rule does not apply. */
export type Rule = (input: RuleInput) => Answer;

/**
 * All rules in order of precedence. The first rule that applies determines the answer. Reasons why the pod is being
 * stopped come first, followed by failures and then by waits without a failure.
 */
const RULES: readonly Rule[] = [
  podRejection,
  podEnd,
  nodeWait,
  podTermination,
  volumeFailure,
  podQueue,
  podFailure,
  containerProblem,
  volumeWait,
  podWaitText,
  podCompletion,
  containerWait,
  unmetReadinessGates,
];

/** Rules that apply even while the runtime is not ready, so their answers do not mention the runtime. */
const RUNTIME_INDEPENDENT_RULES: readonly Rule[] = [podRejection, podEnd, nodeWait, unmetReadinessGates];

/** The rules that also explain a single container or volume of a pod. */
export const sharedRules = {
  refusal: podRejection,
  hasEnded: podEnd,
  nodeWait,
  isEnding: podTermination,
  volumeFailure,
  podQueue,
  podFailure,
  containerProblem,
  volumeWait,
  podWaitText,
  containerWait,
} as const satisfies Readonly<Record<string, Rule>>;

/** Returns one sentence that answers the question "why is the pod not running?". */
export function answerOf(input: RuleInput): string {
  const ruleAnswer = firstAnswer(RULES, input);
  if (ruleAnswer !== undefined) return ruleAnswer;
  const { actors } = input;
  const longRunningContainers = actors.containers.filter(({ role }) => role === 'sidecar' || role === 'regular');
  const readyCount = longRunningContainers.filter(({ status }) => status?.ready).length;
  return `${podTitle(actors)} is running, with ${readyCount} of ${longRunningContainers.length} containers ready`;
}

/** Returns the answer of the first rule that applies, or undefined if none does. */
export function firstAnswer(rules: readonly Rule[], input: RuleInput): string | undefined {
  for (const rule of rules) {
    const answer = rule(input);
    if (answer === undefined) continue;
    const { text, failure } = typeof answer === 'string' ? { text: answer } : answer;
    return RUNTIME_INDEPENDENT_RULES.includes(rule) ? text : `${text}${runtimeNote(failure, input)}`;
  }
  return undefined;
}

/** Returns a note that the runtime is not ready, unless the answer already mentions that failure. */
function runtimeNote(failure: Failure | undefined, { runtimeNotReady }: RuleInput): string {
  if (runtimeNotReady === undefined || failure?.reason === 'RuntimeUnavailable') return '';
  return `; the container runtime is not ready: ${shortenMessage(runtimeNotReady)}`;
}

/** Describes a failure, the time of the next attempt and, if an image cannot be pulled, the command that imports it. */
export const describeFailure = (
  subject: string,
  failure: Failure,
  until: number | undefined,
  now: number,
): AnswerWithFailure => ({
  text: `${subject}: ${failureText(failure)}${nextAttemptSuffix(until, now)}${adviceSuffix(failure.reason)}`,
  failure,
});

function adviceSuffix(reason: string): string {
  const advice = importAdvice(reason);
  return advice === undefined ? '' : `; ${advice}`;
}

const nextAttemptSuffix = (until: number | undefined, now: number): string =>
  until === undefined ? '' : `; next attempt at${timeWithDistance(until, now)}`;

const restartSuffix = ({ actor }: ContainerWithActor, now: number): string =>
  actor.until === undefined
    ? `; restarting${waitSuffix(actor, now)}`
    : `; restarts at${timeWithDistance(actor.until, now)}`;

const podTitle = ({ pod }: PodActors): string => `pod ${pod.metadata.name}`;

/** Returns the role and name of a container, e.g. `init container setup`. */
export const containerTitle = ({ role, actor }: ContainerWithActor): string => `${KIND_NAMES[role]} ${actor.name}`;

function podRejection({ actors }: RuleInput): string | undefined {
  const { refused } = actors.tree;
  if (!refused) return undefined;
  const { reason, cause } = refused;
  const why =
    cause === undefined
      ? failureText(refused)
      : `it ${/^(?:requests|needs) /.test(cause) ? '' : 'cannot run: '}${cause} (${reason})`;
  return `${podTitle(actors)} was rejected: ${why}; this is final until its manifest changes or the agent restarts`;
}

function podEnd(input: RuleInput): Answer {
  const { actors, now } = input;
  const { tags, termination } = actors.tree;
  const isReclaimed = tags.includes('reclaimed');
  const isFinal = tags.includes('ended') || isTerminalPhase(actors.pod.status?.phase);
  if (!isFinal || (termination && !isReclaimed)) return undefined;
  const end = terminationText(actors);
  return isReclaimed ? end : (remainingWait(`${end}; `, actors, now) ?? end);
}

/** Describes how a pod has terminated. */
function terminationText(actors: PodActors): string {
  const { phase, reason, message = '' } = actors.pod.status ?? {};
  const cause = actors.tree.termination;
  if (cause && (cause.phase !== undefined || !isTerminalPhase(phase))) {
    return `${podTitle(actors)} has ended: ${failureText({ reason: cause.reason, message: cause.message ?? '' })}`;
  }
  if (phase === 'Failed' && reason) return `${podTitle(actors)} has failed: ${failureText({ reason, message })}`;
  if (phase === 'Succeeded') return `${podTitle(actors)} has succeeded: every container exited with code 0`;
  for (const container of actors.containers) {
    const { lastRun } = container.actor;
    if (!lastRun || !container.status?.state?.terminated?.exitCode) continue;
    return `${podTitle(actors)} has failed: ${containerTitle(container)}: ${terminationCause(lastRun)}`;
  }
  return `${podTitle(actors)} has ended`;
}

/** Applies if the node cannot start the pod yet because the runtime is not ready. */
function nodeWait(input: RuleInput): Answer {
  return input.actors.tree.tags.includes('awaitingNode') ? podWaitText(input) : undefined;
}

function podTermination({ actors, now }: RuleInput): Answer {
  const { tree, containers } = actors;
  if (!tree.termination) return undefined;
  const prefix = `${podTitle(actors)} is terminating (${tree.termination.reason})`;
  const [firstContainer, ...otherContainers] = containers.filter(({ status }) => status?.state?.running);
  if (firstContainer)
    return containerStop(prefix, {
      firstContainer,
      otherCount: otherContainers.length,
      until: firstContainer.actor.until ?? tree.until,
      now,
    });
  return remainingWait(`${prefix}: `, actors, now) ?? prefix;
}

/**
 * Applies if every regular container has completed but the pod is not reported as completed yet, because a part of it
 * is still running.
 */
function podCompletion({ actors, now }: RuleInput): Answer {
  const mainContainers = actors.containers.filter(({ role }) => role === 'regular');
  const haveCompleted = mainContainers.every(
    ({ status, willRestart }) => status?.state?.terminated !== undefined && !willRestart,
  );
  if (!haveCompleted || mainContainers.length === 0) return undefined;
  const prefix = `${podTitle(actors)} is completing`;
  return remainingWait(`${prefix}: `, actors, now) ?? prefix;
}

/** Describes what a pod is still waiting for after its containers have terminated. */
function remainingWait(prefix: string, { volumes, tree }: PodActors, now: number): Answer {
  const waitingActor = [...volumes, tree].find(({ waitingFor }) => waitingFor !== undefined);
  if (!waitingActor) return undefined;
  const waitText = `${prefix}${waitingActor === tree ? '' : `volume ${waitingActor.name} is `}waiting${forClause(waitingActor)}`;
  return describeRetry(waitText, waitingActor, now) ?? `${waitText}${waitDetails(waitingActor, now)}`;
}

interface RunningContainers {
  readonly firstContainer: ContainerWithActor;
  readonly otherCount: number;
  readonly until: number | undefined;
  readonly now: number;
}

/** Describes the first container that is still running, its remaining time and what it is waiting for. */
function containerStop(prefix: string, { firstContainer, otherCount, until, now }: RunningContainers): Answer {
  const { actor } = firstContainer;
  const retryText = describeRetry(
    `${prefix}: ${containerTitle(firstContainer)} is waiting${forClause(actor)}`,
    actor,
    now,
  );
  if (retryText) return retryText;
  const runningContainers =
    otherCount > 0 ? `${containerTitle(firstContainer)} and ${otherCount} more` : containerTitle(firstContainer);
  const waitNote =
    actor.waitingFor === undefined || actor.tags.includes('killing')
      ? ''
      : `; ${otherCount > 0 ? actor.name : 'it'} is waiting${forClause(actor)}`;
  if (actor.tags.includes('overdue'))
    return `${prefix}: waiting for the runtime to kill ${runningContainers}${untilClause(until, now)}`;
  if (until === undefined) return `${prefix}: waiting for ${runningContainers} to stop${waitNote}`;
  return `${prefix}: ${runningContainers} ${otherCount > 0 ? 'have' : 'has'}${untilClause(until, now)} to stop${waitNote}`;
}

/** Describes the last failure of an actor that is waiting for its next attempt. */
export function describeRetry(
  subject: string,
  { tags, lastFailure, until }: ActorNode,
  now: number,
): AnswerWithFailure | undefined {
  return tags.includes('retrying') && lastFailure ? describeFailure(subject, lastFailure, until, now) : undefined;
}

/** Whether a volume has yet to be mounted. Always false for a volume that the pod no longer uses. */
const isUnmounted = ({ tags }: ActorNode): boolean => !tags.includes('mounted') && !tags.includes('leaving');

function volumeFailure({ actors, now }: RuleInput): Answer {
  const volume = actors.volumes.find((each) => isUnmounted(each) && each.lastFailure !== undefined);
  if (!volume?.lastFailure) return undefined;
  return describeFailure(`volume ${volume.name} is not mounted`, volume.lastFailure, volume.until, now);
}

function podQueue({ actors, queuePositionOf }: RuleInput): string | undefined {
  const position = queuePositionOf();
  return position && `${podTitle(actors)} is waiting ${queueText(position)}`;
}

function podFailure({ actors, now }: RuleInput): Answer {
  const { pod, tree } = actors;
  if (!tree.lastFailure || hasNetwork(pod)) return undefined;
  return describeFailure(`${podTitle(actors)} is waiting${forClause(tree)}`, tree.lastFailure, tree.until, now);
}

function containerProblem({ actors, now, queuePositionOf }: RuleInput): Answer {
  for (const container of actors.containers) {
    const position = queuePositionOf(container.actor.name);
    if (position) return `${containerTitle(container)} is waiting ${queueText(position)}`;
    const problem = problemText(container, now);
    if (typeof problem === 'object') return { ...problem, text: `${containerTitle(container)} ${problem.text}` };
    if (problem !== undefined) return `${containerTitle(container)} ${problem}`;
  }
  return undefined;
}

function problemText(container: ContainerWithActor, now: number): Answer {
  const { actor, status: { state = {} } = {}, willRestart } = container;
  const { lastRun, lastFailure, until } = actor;
  if (state.running) return undefined;
  if (state.terminated && lastRun) {
    if (lastRun.exitCode === 0 && !willRestart) return undefined;
    const end = `has terminated: ${terminationCause(lastRun)}`;
    return willRestart ? end + restartSuffix(container, now) : `${end}; it will not be restarted`;
  }
  const { reason } = state.waiting ?? {};
  // The status has this reason until the next start succeeds, even after the back-off has ended and `until` is
  // undefined.
  if (reason === 'CrashLoopBackOff' && lastRun) {
    const repetition = lastRun.exitCode === 0 ? 'keeps exiting' : 'keeps failing';
    return `${until === undefined ? 'has terminated' : repetition}: ${terminationCause(lastRun)}${restartSuffix(container, now)}`;
  }
  if (reason === 'CrashLoopBackOff') return `is in back-off${untilClause(until, now)}`;
  if (!lastFailure) return undefined;
  const action = reason === 'ImagePullBackOff' ? 'is in image pull back-off' : `is waiting${forClause(actor)}`;
  return describeFailure(action, lastFailure, until, now);
}

function volumeWait({ actors, now }: RuleInput): string | undefined {
  const volume = actors.volumes.find(isUnmounted);
  if (!volume) return undefined;
  return `volume ${volume.name} is not mounted yet: waiting${forClause(volume)}${waitDetails(volume, now)}`;
}

function podWaitText({ actors, now }: RuleInput): string | undefined {
  const { pod, tree } = actors;
  if (tree.waitingFor === undefined || hasNetwork(pod)) return undefined;
  return `${podTitle(actors)} is waiting${forClause(tree)}${waitDetails(tree, now)}`;
}

function containerWait({ actors, now }: RuleInput): Answer {
  const container = actors.containers.find(delaysReadiness);
  if (!container) return undefined;
  const { actor, role, status: { state = {} } = {} } = container;
  if (!state.running) {
    const waitSubject = actor.waitingFor ? forClause(actor) : `: ${state.waiting?.reason}`;
    return `${containerTitle(container)} is waiting${waitSubject}${waitDetails(actor, now)}${adviceSuffix(state.waiting?.reason ?? '')}`;
  }
  if (role === 'init')
    return `${containerTitle(container)} has been running for ${humanDuration(now - actor.since)}; the other containers are waiting for it`;
  const prefix = `${containerTitle(container)} is running but`;
  const retryText = describeRetry(`${prefix} waiting${forClause(actor)}`, actor, now);
  return retryText ?? `${prefix} ${probeText(container, now) ?? `not ready${waitSuffix(actor, now)}`}`;
}

/** Describes the last result of the probe that a running container is waiting for, and the time of the next attempt. */
function probeText({ actor, status }: ContainerWithActor, now: number): string | undefined {
  const kind = status?.started ? 'readiness' : 'startup';
  const probe = actor.children.find(({ machine, name }) => machine === 'probe' && name === kind);
  if (probe === undefined) return undefined;
  const { lastFailure, until, facts } = probe;
  const probeResult = lastFailure ? shortenMessage(lastFailure.message) : `its ${kind} probe has not passed yet`;
  // Include the number of failures of a startup probe, because it shows how close the container is to being killed.
  const failures = kind === 'startup' ? facts.map((fact) => `, ${fact}`).join('') : '';
  return `${status?.started ? 'not ready' : 'has not started yet'}: ${probeResult}${failures}${nextAttemptSuffix(until, now)}`;
}

/** Whether the pod is not ready because of this container. */
function delaysReadiness({ role, status }: ContainerWithActor): boolean {
  if (role === 'ephemeral' || status === undefined || status.state?.terminated) return false;
  return role === 'init' || !status.ready;
}

function unmetReadinessGates({ actors }: RuleInput): string | undefined {
  const readyCondition = actors.pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (readyCondition?.reason !== 'ReadinessGatesNotReady') return undefined;
  return `${podTitle(actors)} is running but not ready: ${readyCondition.message ?? ''}`;
}

const waitSuffix = (actor: ActorNode, now: number): string =>
  actor.waitingFor ? `: waiting${forClause(actor)}${untilClause(actor.until, now)}` : '';
