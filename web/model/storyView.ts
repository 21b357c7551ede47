/** What the panels of the story show just now, worked out once for all of them. */

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

/** The burst that is shown, and how many there are beside it. */
export interface ShownBurst {
  readonly burst: Burst;
  readonly before?: Burst;
  readonly after?: Burst;
  /** The place of the line that led to the state of the moment that is shown; -1: none of these. */
  readonly current: number;
  /** The place of the first line that came after the moment that is shown. */
  readonly later: number;
  readonly rows: readonly Row[];
}

/** What is drawn of the story. What is worked out of many lines depends on as little as it can: the clock moves the rest. */
export function createStoryView(page: Page, telling: Telling) {
  /** An image is told of as a part of who gets it. */
  const subject = computed(() => foldedOf(page.selected.value ?? ''));
  /** The story itself goes on while one looks at the past; what has just come is ahead of a clock of seconds. */
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

/** The actors of the selected pod, or the node's own, as they are: while none of them is another it is the same map. */
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

/** What is drawn of the story. */
export type StoryView = ReturnType<typeof createStoryView>;

/** What an actor is in now came with this line. */
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
    // Of a recording only the moment that is shown is known, not how it ends.
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

/** Whose story it is: a pod's, or the node's own. */
export function storyName(page: Page): string {
  const selected = page.selected.value ?? '';
  const world = page.world.value;
  const pod = podOf(world, selected) ?? (podUidOf(selected) === undefined ? undefined : page.lastSeen.value?.pod);
  return pod ? podName(pod, world) : podUidOf(selected) === undefined ? world.node.name : 'pod';
}
