import { humanDuration } from '../api/duration.ts';
import type { PodStatus } from '../api/schema/status.ts';
import type { Failure } from '../failure.ts';
import { isTerminalPhase } from '../status/phase.ts';
import {
  endCause,
  failureText,
  KIND_NAMES,
  momentText,
  queuePlace,
  queueText,
  shortened,
  untilText,
} from './explainText.ts';
import type { ActorView, ContainerView, LimiterView, PodView, ProbeView } from './view.ts';

/** What an answer is taken from. */
interface Question {
  readonly view: PodView;
  readonly now: number;
  readonly limiters: readonly LimiterView[];
  readonly status: PodStatus;
  /** Why the runtime itself is not ready, be its network as it may; undefined while it is. */
  readonly runtimeNotReady: string | undefined;
}

/** An answer, and the failure that it names. */
interface Named {
  readonly words: string;
  readonly failure: Failure;
}

type Answer = string | Named | undefined;

type Rule = (question: Question) => Answer;

/** The first that applies is the answer: what ends the pod, then what failed, then what it merely waits for. */
const RULES: readonly Rule[] = [
  refusal,
  hasEnded,
  nodeWait,
  isEnding,
  volumeFailure,
  podQueue,
  podFailure,
  containerTrouble,
  volumeWait,
  podWait,
  containerWait,
  gatesUnmet,
];

/** What holds whether the runtime answers or not, or says itself that it does not. */
const OF_ITSELF: readonly Rule[] = [refusal, hasEnded, nodeWait, gatesUnmet];

/** One sentence that answers "why is it not running?". */
export function answerOf(question: Question): string {
  for (const rule of RULES) {
    const answer = rule(question);
    if (answer === undefined) continue;
    const { words, failure } = typeof answer === 'string' ? { words: answer } : answer;
    return OF_ITSELF.includes(rule) ? words : `${words}${besides(failure, question)}`;
  }
  const { view } = question;
  const lasting = view.containers.filter(({ role }) => role === 'sidecar' || role === 'regular');
  const ready = lasting.filter((container) => container.ready).length;
  return `${named(view)} is running, with ${ready} of ${lasting.length} containers ready`;
}

/** Who waits for a runtime that is away is told so, unless that is the failure which the answer names. */
function besides(failure: Failure | undefined, { runtimeNotReady }: Question): string {
  if (runtimeNotReady === undefined || failure?.reason === 'RuntimeUnavailable') return '';
  return `; the container runtime is not ready: ${shortened(runtimeNotReady)}`;
}

/** What has failed and how, and when it is tried again. */
const failing = (who: string, failure: Failure, until: number | undefined, now: number): Named => ({
  words: `${who}: ${failureText(failure)}${nextAttempt(until, now)}`,
  failure,
});

const nextAttempt = (until: number | undefined, now: number): string =>
  until === undefined ? '' : `; next attempt at${momentText(until, now)}`;

const restart = (container: ContainerView, now: number): string =>
  container.until === undefined
    ? `; restarting${stillWaits(container, now)}`
    : `; restarts at${momentText(container.until, now)}`;

function named(view: PodView): string {
  return `pod ${view.pod.metadata.name}`;
}

function titled({ role, name }: ContainerView): string {
  return `${KIND_NAMES[role]} ${name}`;
}

function refusal({ view }: Question): string | undefined {
  if (!view.refused) return undefined;
  const { reason, cause } = view.refused;
  const why =
    cause === undefined
      ? failureText(view.refused)
      : `it ${/^requests /.test(cause) ? '' : 'cannot run: '}${cause} (${reason})`;
  return `${named(view)} was rejected: ${why}; this is final until its manifest changes or the agent restarts`;
}

function hasEnded(question: Question): Answer {
  const { view, status, now } = question;
  const isFinal = view.ended || isTerminalPhase(status.phase);
  if (!isFinal || (view.termination && !view.reclaimed)) return undefined;
  const end = endText(question);
  return view.reclaimed ? end : (slowest(`${end}; `, view, now) ?? end);
}

/** How it ended. */
function endText({ view, status }: Question): string {
  const cause = view.termination;
  if (cause && (cause.phase !== undefined || !isTerminalPhase(status.phase))) {
    return `${named(view)} has ended: ${failureText({ reason: cause.reason, message: cause.message ?? '' })}`;
  }
  if (status.phase === 'Failed' && status.reason) {
    return `${named(view)} has failed: ${failureText({ reason: status.reason, message: status.message ?? '' })}`;
  }
  if (status.phase === 'Succeeded') return `${named(view)} has succeeded: every container exited with code 0`;
  const failed = view.containers.find(({ now }) => now.kind === 'terminated' && now.run.exitCode !== 0);
  if (failed?.now.kind !== 'terminated') return `${named(view)} has ended`;
  return `${named(view)} has failed: ${titled(failed)}: ${endCause(failed.now.run)}`;
}

/** The node has not begun with the pod, for want of the runtime. */
function nodeWait(question: Question): Answer {
  return question.view.tags.includes('awaitingNode') ? podWait(question) : undefined;
}

function isEnding({ view, now }: Question): Answer {
  if (!view.termination) return undefined;
  const start = `${named(view)} is terminating (${view.termination.reason})`;
  const [first, ...others] = view.containers.filter((container) => container.now.kind === 'running');
  if (first) return stopping(start, { first, others: others.length, until: first.until ?? view.until, now });
  return slowest(`${start}: `, view, now) ?? start;
}

/** What a pod whose containers have ended is still waiting for. */
function slowest(start: string, view: PodView, now: number): Answer {
  const slow = [...view.volumes, view].find(({ waitingFor }) => waitingFor !== undefined);
  if (!slow) return undefined;
  const who = `${start}${'mounted' in slow ? `volume ${slow.name} is ` : ''}waiting${forText(slow)}`;
  return retrying(who, slow, now) ?? `${who}${spanText(slow, now)}`;
}

interface Stop {
  readonly first: ContainerView;
  readonly others: number;
  readonly until: number | undefined;
  readonly now: number;
}

/** What the first container that still runs has left, and what it does meanwhile. */
function stopping(start: string, { first, others, until, now }: Stop): Answer {
  const failed = retrying(`${start}: ${titled(first)} is waiting${forText(first)}`, first, now);
  if (failed) return failed;
  const who = others > 0 ? `${titled(first)} and ${others} more` : titled(first);
  const meanwhile =
    first.waitingFor === undefined || first.tags.includes('killing')
      ? ''
      : `; ${others > 0 ? first.name : 'it'} is waiting${forText(first)}`;
  if (until === undefined) return `${start}: waiting for ${who} to stop${meanwhile}`;
  return `${start}: ${who} ${others > 0 ? 'have' : 'has'}${untilText(until, now)} to stop${meanwhile}`;
}

/** Why the last attempt failed, of one that waits for the next. */
function retrying(who: string, { tags, lastFailure, until }: ActorView, now: number): Named | undefined {
  return tags.includes('retrying') && lastFailure ? failing(who, lastFailure, until, now) : undefined;
}

function volumeFailure({ view, now }: Question): Answer {
  const volume = view.volumes.find(({ mounted, lastFailure }) => !mounted && lastFailure);
  if (!volume?.lastFailure) return undefined;
  return failing(`volume ${volume.name} is not mounted`, volume.lastFailure, volume.until, now);
}

function podQueue({ view, limiters }: Question): string | undefined {
  const place = queuePlace(view, limiters);
  return place && `${named(view)} is waiting ${queueText(place)}`;
}

function podFailure({ view, now }: Question): Answer {
  if (!view.lastFailure || view.sandbox?.state === 'ready') return undefined;
  return failing(`${named(view)} is waiting${forText(view)}`, view.lastFailure, view.until, now);
}

function containerTrouble({ view, now, limiters }: Question): Answer {
  for (const container of view.containers) {
    const place = queuePlace(view, limiters, container.name);
    if (place) return `${titled(container)} is waiting ${queueText(place)}`;
    const trouble = troubleOf(container, now);
    if (typeof trouble === 'object') return { ...trouble, words: `${titled(container)} ${trouble.words}` };
    if (trouble !== undefined) return `${titled(container)} ${trouble}`;
  }
  return undefined;
}

function troubleOf(container: ContainerView, now: number): Answer {
  const { now: state, willRestart, last, lastFailure, until } = container;
  if (state.kind === 'running') return undefined;
  if (state.kind === 'terminated') {
    if (state.run.exitCode === 0 && !willRestart) return undefined;
    const end = `has terminated: ${endCause(state.run)}`;
    return willRestart ? end + restart(container, now) : `${end}; it will not be restarted`;
  }
  // It is shown until the next start has worked.
  if (state.reason === 'CrashLoopBackOff' && last) {
    return `${until === undefined ? 'has terminated' : 'keeps failing'}: ${endCause(last)}${restart(container, now)}`;
  }
  if (state.reason === 'CrashLoopBackOff') return `is in back-off${untilText(until, now)}`;
  if (!lastFailure) return undefined;
  const what = state.reason === 'ImagePullBackOff' ? 'is in image pull back-off' : `is waiting${forText(container)}`;
  return failing(what, lastFailure, until, now);
}

function volumeWait({ view, now }: Question): string | undefined {
  const volume = view.volumes.find(({ mounted }) => !mounted);
  if (!volume) return undefined;
  return `volume ${volume.name} is not mounted yet: waiting${forText(volume)}${spanText(volume, now)}`;
}

function podWait({ view, now }: Question): string | undefined {
  if (view.waitingFor === undefined || view.sandbox?.state === 'ready') return undefined;
  return `${named(view)} is waiting${forText(view)}${spanText(view, now)}`;
}

function containerWait({ view, now }: Question): Answer {
  const container = view.containers.find(isBehind);
  if (!container) return undefined;
  const { now: state, role, waitingFor } = container;
  if (state.kind === 'waiting') {
    return `${titled(container)} is waiting${waitingFor ? forText(container) : `: ${state.reason}`}${spanText(container, now)}`;
  }
  if (role === 'init')
    return `${titled(container)} has been running for ${humanDuration(now - container.since)}; the other containers are waiting for it`;
  const start = `${titled(container)} is running but`;
  const failed = retrying(`${start} waiting${forText(container)}`, container, now);
  return failed ?? `${start} ${probeText(container, now) ?? `not ready${stillWaits(container, now)}`}`;
}

/** What the probe that holds a running container up has said, and when it is tried again. */
function probeText({ started, probes = [] }: ContainerView, now: number): string | undefined {
  const probe = probes.find(({ kind }) => kind === (started ? 'readiness' : 'startup'));
  if (probe === undefined) return undefined;
  const { kind, lastFailure, until } = probe;
  const said = lastFailure ? shortened(lastFailure.message) : `its ${kind} probe has not passed yet`;
  return `${started ? 'not ready' : 'has not started yet'}: ${said}${failuresText(probe)}${nextAttempt(until, now)}`;
}

/** `, 3 of 30 failures`: how near a startup probe is to having its container killed. */
function failuresText({ kind, failures }: ProbeView): string {
  return kind === 'startup' && failures ? `, ${failures.count} of ${failures.limit} failures` : '';
}

/** Whether a container has yet to do its part for the pod to be ready. */
function isBehind({ role, now, ready }: ContainerView): boolean {
  if (role === 'ephemeral' || now.kind === 'terminated') return false;
  return role === 'init' || now.kind === 'waiting' || !ready;
}

function gatesUnmet({ view, status }: Question): string | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.reason !== 'ReadinessGatesNotReady') return undefined;
  return `${named(view)} is running but not ready: ${ready.message ?? ''}`;
}

function stillWaits(container: ContainerView, now: number): string {
  return container.waitingFor ? `: waiting${forText(container)}${untilText(container.until, now)}` : '';
}

/** A wait of less is nobody's concern. */
const LONG_WAIT_MS = 10_000;

/** Until when it waits, or else for how long it has. */
function spanText({ until, since }: ActorView, now: number): string {
  if (until !== undefined) return untilText(until, now);
  return now - since < LONG_WAIT_MS ? '' : ` (for ${humanDuration(now - since)} so far)`;
}

function forText({ waitingFor }: { readonly waitingFor?: string }): string {
  return waitingFor === undefined ? '' : ` for ${waitingFor}`;
}
