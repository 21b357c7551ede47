/** What comes next, in words: the ways out of the state that an actor is in. */
import type { Detail, NextWay, ShownActor, TriedRun } from '../../inspect/protocol.ts';
import { humanDuration } from '../../pod/api/duration.ts';
import { clockOf } from './time.ts';
import { lastFirst } from './tried.ts';

/** One thing that may come. */
export interface NextLine {
  /** `07:44:40`, `Sooner`, `If it fails` */
  readonly when: string;
  readonly text: string;
  /** How the text ends: what stands out of it. */
  readonly strong: string;
  /** The way of the chart that it takes, where it takes one. */
  readonly way?: string;
}

/** What an event means, to follow "when". */
const EVENTS: ReadonlyMap<string, string> = new Map([
  ['container.update', 'its manifest is changed'],
  ['container.stop', 'it is told to stop'],
  ['container.reset', 'its whole pod is restarted'],
  ['container.start', 'its turn comes'],
  ['container.launch', 'its turn to start comes'],
  ['container.sized', 'its resources are changed'],
  ['container.changed', 'one of its containers changes'],
  ['container.notFound', 'the runtime does not know it any more'],
  ['image.update', 'its pull secrets are changed'],
  ['image.changed', 'its image changes'],
  ['volume.changed', 'one of its volumes changes'],
  ['volume.update', "its pod's data are changed"],
  ['volume.unmount', 'it is no longer needed'],
  ['pod.terminate', 'it has to end'],
  ['pod.update', 'its manifest is changed'],
  ['pod.deadlineExceeded', 'its active deadline has passed'],
  ['admission.admitted', 'it is admitted'],
  ['admission.refused', 'it is refused'],
  ['sandbox.ready', "its pod's sandbox is ready"],
  ['sandbox.lost', 'its sandbox is lost'],
  ['slot.granted', 'it gets its slot'],
  ['slot.request', 'a slot is asked for'],
  ['slot.release', 'a slot is given back'],
  ['probe.succeeded', 'a probe succeeds'],
  ['probe.failed', 'a probe fails'],
  ['runtime.containerObserved', 'the runtime shows a change of it'],
  ['runtime.podObserved', 'the runtime shows a change of it'],
  ['runtime.returned', 'the runtime answers again'],
  ['runtime.networkChanged', "the runtime's network changes"],
  ['node.ticked', 'the node looks again'],
  ['node.drain', 'the node is shut down'],
]);

/**
 * `container.update [changesBackOffKey]` is an event with its guard; `findImage done` how a call ends; `[isComplete]` alone
 * is what has to hold.
 */
const ON = /^(?<event>[^\s[]\S*)?(?: (?<end>done|failed))?(?: ?\[(?<guard>.*)\])?$/;

/** The guards that say more than their event does. */
const GUARDS: ReadonlyMap<string, string> = new Map([
  ['changesBackOffKey', 'its image or resources are changed'],
  ['changesIdentity', 'its image is changed'],
  ['changesSize', 'its resources are changed'],
  ['showsEnd', 'the runtime shows that it has ended'],
  ['showsAbsence', 'the runtime does not show it any more'],
  ['showsOtherId', 'the runtime shows another one in its place'],
  ['failedForRuntime', 'the runtime answers again'],
  ['isComplete', 'none of its containers has anything left to do'],
  ['mustRestartAll', 'a container asks to restart all of them'],
  ['mustFit', 'its cgroup has to be resized'],
  ['areVolumesUnmounted', 'its volumes are unmounted'],
  ['canGrant', 'a slot is free'],
]);

function whenText(on: string): string {
  const { event = '', end, guard = '' } = ON.exec(on)?.groups ?? { event: on };
  if (event === '') return GUARDS.get(guard) ?? `${guard} holds`;
  if (end !== undefined) return `${event} ${end === 'done' ? 'is done' : 'fails'}`;
  return (
    GUARDS.get(guard) ?? EVENTS.get(event) ?? `${event}${guard === '' || guard === 'else' ? '' : ` (${guard})`} comes`
  );
}

/** The chart has all of them. */
const MOST_OTHERS = 3;

/** The lines of "What comes next": the deadline first, then what may come before it. */
export function nextLines(detail: Detail, actor: ShownActor | undefined): NextLine[] {
  const timed = detail.next.filter(({ at }) => at !== undefined);
  const others = detail.next.filter(({ at }) => at === undefined);
  const isBackOff = actor?.machine === 'container' && actor.tags.includes('retrying') && detail.tried.length > 0;
  const lines = timed.map((way) => timedLine(way, isBackOff ? nextRun(detail) : undefined));
  const said = new Set<string>();
  for (const { on, to, way } of others) {
    const text = `when ${whenText(on)}`;
    if (said.has(text) || said.size === MOST_OTHERS) continue;
    const when = said.size > 0 ? '' : timed.length > 0 ? 'Sooner' : 'Goes on';
    said.add(text);
    lines.push({ when, ...(isBackOff && timed.length > 0 ? { text, strong: '' } : towards(text, to)), way });
  }
  return isBackOff ? [...lines, ...ifItFails(lastFirst(detail, actor))] : lines;
}

const nextRun = ({ tried }: Detail): number => Math.max(...tried.map(({ run }) => run)) + 1;

function timedLine({ at = 0, to, way }: NextWay, run: number | undefined): NextLine {
  const line = run === undefined ? towards('it goes on', to) : { text: 'it is', strong: `started as run ${run}` };
  return { when: clockOf(at), ...line, way };
}

const towards = (text: string, to: string | undefined) =>
  to === undefined ? { text, strong: '' } : { text: `${text}, to`, strong: to };

/** A kubelet's longest back-off; a node can be told of another one, which its waits then show. */
const LONGEST_MS = 300_000;

/** Waits double until one is as long as that before it: that is then the longest there is. */
function ifItFails(tried: readonly TriedRun[]): NextLine[] {
  const waits = tried.flatMap(({ waitedMs }) => waitedMs ?? []);
  const [last, before] = waits;
  if (last === undefined) return [];
  if (last === before) return [{ when: 'If it fails', text: 'it waits', strong: `${humanDuration(last)} again` }];
  const most = Math.min(2 * last, Math.max(LONGEST_MS, ...waits));
  return [{ when: 'If it fails', text: 'it waits longer, at most', strong: humanDuration(most) }];
}
