/** Builds the section "What comes next", which describes the possible transitions from an actor's current state. */

import { humanDuration } from '../../../base/time/duration.ts';
import type { NextWay, ShownActor, TriedRun } from '../../../inspect/protocol.ts';
import { categoryOf, isHealthy } from '../../../show/category.ts';
import { formatClock } from '../rail/time.ts';
import type { LoadedDetail } from './detail.ts';
import { runsLatestFirst } from './tried.ts';

/** A line that describes one possible transition. */
export interface NextLine {
  /** Short text for the time or the condition of the transition, e.g. `07:44:40`, `Sooner` or `If it fails`. */
  readonly when: string;
  readonly text: string;
  /** The end of the text, which is emphasized. */
  readonly emphasis: string;
  /** The transition that the chart highlights, if any. */
  readonly transition?: string;
}

/** Phrases that describe events, to follow the word "when". They do not describe the guard of a transition. */
const EVENT_TEXTS: ReadonlyMap<string, string> = new Map([
  ['container.update', 'its manifest is changed'],
  ['container.stop', 'it is told to stop'],
  ['container.reset', 'its whole pod is restarted'],
  ['container.start', 'its turn comes'],
  ['container.launch', 'its turn to start comes'],
  ['container.sized', 'its resources are changed'],
  ['container.changed', 'one of its containers changes'],
  ['container.notFound', 'the runtime does not know it any more'],
  ['container.objectsChanged', 'a ConfigMap or Secret that it uses changes'],
  ['container.runningObserved', 'the runtime shows that it runs'],
  ['image.update', 'its pull secrets are changed'],
  ['image.changed', 'its image changes'],
  ['volume.changed', 'one of its volumes changes'],
  ['volume.update', "its pod's data are changed"],
  ['volume.objectsChanged', 'an object that it shows changes'],
  ['volume.unmount', 'it is no longer needed'],
  ['pod.terminate', 'it has to end'],
  ['pod.update', 'its manifest is changed'],
  ['pod.metadataChanged', 'its labels or annotations are changed'],
  ['pod.conditionsChanged', 'its conditions change'],
  ['pod.objectsChanged', 'an object that it uses changes'],
  ['pod.rewanted', 'its manifest is created again'],
  ['pod.deadlineExceeded', 'its active deadline has passed'],
  ['pod.killLimitExceeded', 'its end takes too long'],
  ['admission.admitted', 'it is admitted'],
  ['admission.refused', 'it is refused'],
  ['sandbox.ready', "its pod's sandbox is ready"],
  ['sandbox.lost', 'its sandbox is lost'],
  ['slot.granted', 'it gets its slot'],
  ['slot.request', 'a slot is asked for'],
  ['slot.release', 'a slot is given back'],
  ['slot.forget', 'a pod that waits for a slot is gone'],
  ['probe.succeeded', 'a probe succeeds'],
  ['probe.failed', 'a probe fails'],
  ['runtime.containerObserved', 'the runtime shows a change of it'],
  ['runtime.containerSeen', 'the runtime shows a change of it'],
  ['runtime.podObserved', 'the runtime shows a change of it'],
  ['runtime.returned', 'the runtime answers again'],
  ['runtime.networkChanged', "the runtime's network changes"],
  ['timer.elapsed', 'its time is over'],
  ['node.ticked', 'the node looks again'],
  ['node.drain', 'the node is shut down'],
  ['status.changed', 'the status of a pod changes'],
  ['mirror.changed', 'its mirror pod changes'],
  ['certificate.namesChanged', 'the addresses of the node change'],
]);

/**
 * Matches an event with its guard, e.g. `container.update [changesBackOffKey]`, the outcome of a call, e.g. `findImage
 * done`, or a guard alone, e.g. `[isComplete]`.
 */
const TRANSITION_PATTERN = /^(?<event>[^\s[]\S*)?(?: (?<end>done|failed))?(?: ?\[(?<guard>.*)\])?$/;

/**
 * Phrases for guards, which are used where the guard is more informative than the event. The name of a guard is never
 * displayed.
 */
const GUARD_TEXTS: ReadonlyMap<string, string> = new Map([
  ['changesBackOffKey', 'its image or resources are changed'],
  ['changesIdentity', 'its image is changed'],
  ['changesSize', 'its resources are changed'],
  ['isObservedExited', 'the runtime shows that it has ended'],
  ['isObservedAbsent', 'the runtime does not show it any more'],
  ['isObservedUnderNewId', 'the runtime shows another one in its place'],
  ['wasRuntimeUnavailable', 'the runtime answers again'],
  ['isComplete', 'none of its containers has anything left to do'],
  ['mustRestartAllContainers', 'a container asks to restart all of them'],
  ['mustResizeCgroup', 'its cgroup has to be resized'],
  ['areVolumesUnmounted', 'its volumes are unmounted'],
  ['canGrant', 'a slot is free'],
]);

/** Converts the name of a call to words, e.g. `createContainer` to `"create container"`. */
const callText = (port: string): string =>
  !/[A-Z]/.test(port) ? port : `"${port.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}"`;

/** Describes when a transition is taken. Undefined if neither the event nor the guard has a phrase. */
export function conditionText(on: string): string | undefined {
  const { event = '', end, guard = '' } = TRANSITION_PATTERN.exec(on)?.groups ?? {};
  if (event === '') return GUARD_TEXTS.get(guard);
  if (end !== undefined) return `${callText(event)} ${end === 'done' ? 'is done' : 'fails'}`;
  return GUARD_TEXTS.get(guard) ?? EVENT_TEXTS.get(event);
}

/** Maximum number of event-triggered transitions to list. The chart shows all of them. */
const MAX_EVENT_TRANSITIONS = 3;

/**
 * Returns the lines of the section, starting with the deadline. Empty for a healthy actor, because a healthy actor is
 * not waiting for anything.
 */
export function nextLines(detail: NextDetail, actor: NextActor | undefined): NextLine[] {
  if (actor && isHealthy(categoryOf(actor))) return [];
  const { tried = [] } = detail;
  const timedTransitions = detail.next.filter(({ at }) => at !== undefined);
  const eventTransitions = detail.next.filter(({ at }) => at === undefined);
  const isContainer = actor?.machine === 'container' && actor.tags.includes('retrying');
  const isBackOff = isContainer && (tried.length > 0 || actor.lastRun !== undefined);
  const sectionLines = timedTransitions.map((timedTransition) => timedLine(timedTransition, isBackOff, tried));
  const writtenTexts = new Set<string>();
  for (const { on, to, way: transition } of eventTransitions) {
    const condition = conditionText(on);
    if (condition === undefined) continue;
    const conditionSentence = `when ${condition}`;
    if (writtenTexts.has(conditionSentence) || writtenTexts.size === MAX_EVENT_TRANSITIONS) continue;
    const when = writtenTexts.size > 0 ? '' : timedTransitions.length > 0 ? 'Sooner' : 'Goes on';
    writtenTexts.add(conditionSentence);
    sectionLines.push({
      when,
      ...(isBackOff && timedTransitions.length > 0
        ? { text: conditionSentence, emphasis: '' }
        : appendTarget(conditionSentence, to)),
      transition,
    });
  }
  return isBackOff ? [...sectionLines, ...nextBackOff(runsLatestFirst({ tried }, actor))] : sectionLines;
}

type NextDetail = Pick<LoadedDetail, 'next' | 'tried'>;
type NextActor = Pick<ShownActor, 'machine' | 'tags' | 'lastRun' | 'since' | 'until'>;

/**
 * Describes a transition that is triggered by a timer. `tried` is empty until the container's history has been loaded.
 */
function timedLine({ at = 0, to, way: transition }: NextWay, isBackOff: boolean, tried: readonly TriedRun[]): NextLine {
  const run = Math.max(...tried.map((each) => each.run)) + 1;
  const emphasis = tried.length > 0 ? `started as run ${run}` : 'started again';
  const line = isBackOff ? { text: 'it is', emphasis } : appendTarget('it goes on', to);
  return { when: formatClock(at), ...line, transition };
}

const appendTarget = (text: string, to: string | undefined) =>
  to === undefined ? { text, emphasis: '' } : { text: `${text}, to`, emphasis: to };

/**
 * The kubelet's default maximum back-off, in milliseconds. A longer maximum that is configured on the node is inferred
 * from the observed waits.
 */
const MAX_BACK_OFF_MS = 300_000;

/**
 * Describes the next back-off. The back-off doubles until the maximum, which is reached once two consecutive waits are
 * equal.
 */
function nextBackOff(tried: readonly TriedRun[]): NextLine[] {
  const waitTimesMs = tried.flatMap(({ waitedMs }) => waitedMs ?? []);
  const [last, before] = waitTimesMs;
  if (last === undefined) return [];
  if (last === before) return [{ when: 'If it fails', text: 'it waits', emphasis: `${humanDuration(last)} again` }];
  const maxWaitMs = Math.min(2 * last, Math.max(MAX_BACK_OFF_MS, ...waitTimesMs));
  return [{ when: 'If it fails', text: 'it waits longer, at most', emphasis: humanDuration(maxWaitMs) }];
}
