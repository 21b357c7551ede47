/** The derived state of the story panels, computed once for all of them. */

import { computed, type ReadonlySignal } from '@preact/signals';
import type { ShownActor } from '../../inspect/protocol.ts';
import { podUidOf } from '../../show/actorPath.ts';
import type { Page } from './page.ts';
import { podName, podOf } from './selection.ts';
import { type Burst, burstAt, growingBursts } from './storyBursts.ts';
import { type Lane, lanesOf } from './storyLanes.ts';
import { foldedOf, type Row, rowsOf } from './storyRows.ts';
import { type Sequence, sequenceOf } from './storySequence.ts';
import { lastOf, type Telling } from './telling.ts';

/** The burst on display and its neighbors. */
export interface ShownBurst {
  readonly burst: Burst;
  readonly before?: Burst;
  readonly after?: Burst;
  /** Index of the row that led to the state at the displayed time. -1 if no row did. */
  readonly current: number;
  /** Index of the first row after the displayed time. */
  readonly later: number;
  readonly rows: readonly Row[];
}

/**
 * Creates the derived signals of the story. Signals computed from many lines do not depend on the clock, so that a tick
 * does not recompute them.
 */
export function createStoryView(page: Page, telling: Telling) {
  /** An image is represented by the actor that waits for it. */
  const subject = computed(() => foldedOf(page.selected.value ?? ''));
  /**
   * End of the known story. It advances while the user looks at the past, and may be ahead of the clock, which only has
   * whole seconds.
   */
  const edge = computed(() => {
    if (page.held.value && !page.past.value) return page.now.value;
    const known = telling.known.value;
    return Math.max(lastOf(page), known?.isOpen ? known.story.to : Number.NEGATIVE_INFINITY);
  });
  const moment = computed(() => (page.past.value ? page.now.value : edge.value));
  const steps = computed(() => upTo(telling.steps.value, edge.value));
  const burstsSoFar = growingBursts();
  const bursts = computed(() => burstsSoFar(steps.value, subject.value));
  const shown = shownBurst({ telling, subject, moment, bursts });
  const present = presentActors(page);
  return {
    subject,
    edge,
    bursts,
    shown,
    lanes: computed<readonly Lane[]>(() => lanesNow(page, telling, { edge: edge.value, actors: present.value })),
    sequence: computed<Sequence | undefined>(() => sequenceNow(page, telling, subject.value, shown.value)),
  };
}

interface Bursts {
  readonly telling: Telling;
  readonly subject: ReadonlySignal<string>;
  readonly moment: ReadonlySignal<number>;
  readonly bursts: ReadonlySignal<readonly Burst[]>;
}

function shownBurst({ telling, subject, moment, bursts }: Bursts): ReadonlySignal<ShownBurst | undefined> {
  const index = computed(() => burstAt(bursts.value, telling.burst.value ?? moment.value));
  const rows = computed(() => {
    const burst = bursts.value[index.value];
    const isSampled = podUidOf(subject.value) === undefined;
    return burst ? rowsOf(burst.steps, { subject: subject.value, isSampled }) : [];
  });
  const current = computed(() =>
    rows.value.findLastIndex((row) => row.at <= moment.value && isMoveOf(row, subject.value)),
  );
  const later = computed(() => {
    const first = rows.value.findIndex((row) => row.at > moment.value);
    return first === -1 ? rows.value.length : first;
  });
  return computed(() => {
    const [before, burst, after] = [-1, 0, 1].map((aside) => bursts.value[index.value + aside]);
    if (!burst) return undefined;
    const beside = { ...(before ? { before } : {}), ...(after ? { after } : {}) };
    return { burst, ...beside, rows: rows.value, current: current.value, later: later.value };
  });
}

/**
 * Returns the actors of the selected pod, or the node's own. The map stays identical while no actor has changed, so
 * that dependent signals are not recomputed.
 */
function presentActors(page: Page): ReadonlySignal<ReadonlyMap<string, ShownActor>> {
  let last: ReadonlyMap<string, ShownActor> = new Map();
  return computed(() => {
    const world = page.past.value && page.mode === 'live' ? page.live.value : page.world.value;
    const uid = podUidOf(page.selected.value ?? '');
    const own = new Map([...world.actors].filter(([path]) => podUidOf(path) === uid));
    const isSame = own.size === last.size && [...own].every(([path, actor]) => last.get(path) === actor);
    if (!isSame) last = own;
    return last;
  });
}

export type StoryView = ReturnType<typeof createStoryView>;

/** Whether the row changed the state of the subject. */
const isMoveOf = ({ kind, move }: Row, subject: string): boolean =>
  kind !== 'event' && move !== undefined && foldedOf(move.actor) === subject;

const upTo = (steps: Telling['steps']['value'], at: number): Telling['steps']['value'] => {
  const end = steps.findIndex((step) => step.at > at);
  return end === -1 ? steps : steps.slice(0, end);
};

interface Present {
  readonly edge: number;
  readonly actors: ReadonlyMap<string, ShownActor>;
}

function lanesNow(page: Page, telling: Telling, { edge, actors }: Present): readonly Lane[] {
  const {
    known: { value: known },
    life: { value: story },
  } = telling;
  if (!known || !story) return [];
  return lanesOf({
    story,
    steps: telling.steps.value,
    selected: page.selected.value,
    from: telling.window.value.from,
    now: Math.min(edge, known.isOpen ? edge : known.story.to),
    // In a recording, the actors are known only at the displayed time, not at its end.
    actors: page.mode === 'live' && known.isOpen ? actors : undefined,
  });
}

function sequenceNow(
  page: Page,
  telling: Telling,
  subject: string,
  shown: ShownBurst | undefined,
): Sequence | undefined {
  if (!shown) return undefined;
  const { burst, rows, after } = shown;
  const isOwn = ({ actor }: { readonly actor: string }) => actor === subject;
  const earlier = telling.steps.value.findLast(({ moves, at }) => at < burst.from && moves.some(isOwn));
  const before = earlier?.moves.findLast(isOwn) ?? telling.life.value?.before.find(isOwn);
  return sequenceOf({
    rows,
    subject,
    from: burst.from,
    before: before && { state: before.state, ...(before.tag === undefined ? {} : { tag: before.tag }) },
    now: after ? undefined : page.past.value ? undefined : page.now.value,
  });
}

/** Returns the name of the pod whose story is shown, or the node's name. */
export function storyName(page: Page): string {
  const selected = page.selected.value ?? '';
  const world = page.world.value;
  const pod = podOf(world, selected) ?? (podUidOf(selected) === undefined ? undefined : page.lastSeen.value?.pod);
  return pod ? podName(pod, world) : podUidOf(selected) === undefined ? world.node.name : 'pod';
}
