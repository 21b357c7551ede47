/** What the panels of the story show just now, worked out once for all of them. */
import { computed } from '@preact/signals';
import type { Page } from './page.ts';
import { podName, podOf, uidOf } from './selection.ts';
import { type Burst, burstAt, burstsOf } from './storyBursts.ts';
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
  readonly rows: readonly Row[];
}

/** What is drawn of the story. */
export function createStoryView(page: Page, telling: Telling) {
  /** An image is told of as a part of who gets it. */
  const subject = computed(() => foldedOf(page.selected.value ?? ''));
  /** The story itself goes on while one looks at the past. */
  const edge = computed(() => (page.held.value && !page.past.value ? page.now.value : lastOf(page)));
  const bursts = computed(() => burstsOf(upTo(telling.steps.value, edge.value), subject.value));
  const shown = computed<ShownBurst | undefined>(() => {
    const all = bursts.value;
    const chosen = telling.burst.value;
    const index = burstAt(all, chosen ?? page.now.value);
    const burst = all[index];
    if (!burst) return undefined;
    const rows = rowsOf(burst.steps, { subject: subject.value, isSampled: uidOf(subject.value) === undefined });
    const [before, after] = [all[index - 1], all[index + 1]];
    const current = rows.findLastIndex((row) => row.at <= page.now.value && isMoveOf(row, subject.value));
    return { burst, ...(before ? { before } : {}), ...(after ? { after } : {}), rows, current };
  });
  return {
    ...{ subject, edge, bursts, shown },
    lanes: computed<readonly Lane[]>(() => lanesNow(page, telling, edge.value)),
    sequence: computed<Sequence | undefined>(() => sequenceNow(page, telling, subject.value, shown.value)),
  };
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

function lanesNow(page: Page, telling: Telling, edge: number): readonly Lane[] {
  const known = telling.known.value;
  if (!known) return [];
  const isLive = page.mode === 'live';
  const world = page.past.value && isLive ? page.live.value : page.world.value;
  return lanesOf({
    ...{ story: known.story, steps: telling.steps.value, selected: page.selected.value },
    now: Math.min(edge, known.isOpen ? edge : known.story.to),
    // Of a recording only the moment that is shown is known, not how it ends.
    actors: isLive && known.isOpen ? world.actors : new Map(),
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
  const earlier = telling.steps.value.flatMap(({ moves, at }) => (at < burst.from ? moves : []));
  const before =
    earlier.findLast(({ actor }) => actor === subject) ??
    telling.known.value?.story.before.find(({ actor }) => actor === subject);
  return sequenceOf({
    ...{ rows, subject, from: burst.from },
    before: before && { state: before.state, ...(before.tag === undefined ? {} : { tag: before.tag }) },
    now: after ? undefined : page.past.value ? undefined : page.now.value,
  });
}

/** Whose story it is: a pod's, or the node's own. */
export function storyName(page: Page): string {
  const selected = page.selected.value ?? '';
  const world = page.world.value;
  const pod = podOf(world, selected) ?? (uidOf(selected) === undefined ? undefined : page.lastSeen.value?.pod);
  return pod ? podName(pod, world) : uidOf(selected) === undefined ? world.node.name : 'pod';
}
