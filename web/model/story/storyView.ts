/** Computes the derived state of the story panels once for all of them. */

import { computed, type ReadonlySignal } from '@preact/signals';
import type { ShownActor } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import type { Page } from '../page.ts';
import { podName, podOf } from '../selection.ts';
import { type Burst, burstIndexAt, createBurstGrouper } from './storyBursts.ts';
import { type Lane, storyLanes } from './storyLanes.ts';
import { type Row, representativeOf, storyRows } from './storyRows.ts';
import { type Sequence, sequenceOf } from './storySequence.ts';
import { latestKnownTime, type StoryState } from './storyState.ts';

/** The burst on display and its neighbors. */
export interface VisibleBurst {
  readonly burst: Burst;
  readonly before?: Burst;
  readonly after?: Burst;
  /** Index of the row that led to the state at the displayed time. -1 if no row did. */
  readonly currentIndex: number;
  /** Index of the first row after the displayed time. */
  readonly laterIndex: number;
  readonly rows: readonly Row[];
}

/**
 * Creates the derived signals of the story. Signals computed from many lines do not depend on the clock, so that a tick
 * does not recompute them.
 */
export function createStoryView(page: Page, storyState: StoryState) {
  /** An image is represented by the actor that waits for it. */
  const subject = computed(() => representativeOf(page.selected.value ?? ''));
  /**
   * End of the known story. It advances while the user looks at the past, and may be ahead of the clock, which only has
   * whole seconds.
   */
  const latestTime = computed(() => {
    if (page.frozen.value && !page.past.value) return page.now.value;
    const loaded = storyState.loaded.value;
    return Math.max(latestKnownTime(page), loaded?.isOpen ? loaded.story.to : Number.NEGATIVE_INFINITY);
  });
  const moment = computed(() => (page.past.value ? page.now.value : latestTime.value));
  const steps = computed(() => stepsUpTo(storyState.steps.value, latestTime.value));
  const groupBursts = createBurstGrouper();
  const bursts = computed(() => groupBursts(steps.value, subject.value));
  const visibleBurst = createVisibleBurst({ storyState, subject, moment, bursts });
  const present = presentActors(page);
  return {
    subject,
    latestTime: latestTime,
    bursts,
    visibleBurst,
    lanes: computed<readonly Lane[]>(() =>
      computeLanes(page, storyState, { latestTime: latestTime.value, actors: present.value }),
    ),
    sequence: computed<Sequence | undefined>(() =>
      computeSequence(page, storyState, subject.value, visibleBurst.value),
    ),
  };
}

interface Bursts {
  readonly storyState: StoryState;
  readonly subject: ReadonlySignal<string>;
  readonly moment: ReadonlySignal<number>;
  readonly bursts: ReadonlySignal<readonly Burst[]>;
}

function createVisibleBurst({ storyState, subject, moment, bursts }: Bursts): ReadonlySignal<VisibleBurst | undefined> {
  const index = computed(() => burstIndexAt(bursts.value, storyState.selectedBurst.value ?? moment.value));
  const rows = computed(() => {
    const burst = bursts.value[index.value];
    const isSampled = podUidOf(subject.value) === undefined;
    return burst ? storyRows(burst.steps, { subject: subject.value, isSampled }) : [];
  });
  const currentIndex = computed(() =>
    rows.value.findLastIndex((row) => row.at <= moment.value && movesSubject(row, subject.value)),
  );
  const laterIndex = computed(() => {
    const first = rows.value.findIndex((row) => row.at > moment.value);
    return first === -1 ? rows.value.length : first;
  });
  return computed(() => {
    const [before, burst, after] = [-1, 0, 1].map((aside) => bursts.value[index.value + aside]);
    if (!burst) return undefined;
    const neighbors = { ...(before ? { before } : {}), ...(after ? { after } : {}) };
    return { burst, ...neighbors, rows: rows.value, currentIndex: currentIndex.value, laterIndex: laterIndex.value };
  });
}

/**
 * Returns the actors of the selected pod, or the node's own. The map stays identical while no actor has changed, so
 * that dependent signals are not recomputed.
 */
function presentActors(page: Page): ReadonlySignal<ReadonlyMap<string, ShownActor>> {
  let previous: ReadonlyMap<string, ShownActor> = new Map();
  return computed(() => {
    const world = page.past.value && page.mode === 'live' ? page.live.value : page.world.value;
    const uid = podUidOf(page.selected.value ?? '');
    const podActors = new Map([...world.actors].filter(([path]) => podUidOf(path) === uid));
    const isSame =
      podActors.size === previous.size && [...podActors].every(([path, actor]) => previous.get(path) === actor);
    if (!isSame) previous = podActors;
    return previous;
  });
}

export type StoryView = ReturnType<typeof createStoryView>;

/** Whether the row changed the state of the subject. */
const movesSubject = ({ kind, move }: Row, subject: string): boolean =>
  kind !== 'event' && move !== undefined && representativeOf(move.actor) === subject;

const stepsUpTo = (steps: StoryState['steps']['value'], at: number): StoryState['steps']['value'] => {
  const end = steps.findIndex((step) => step.at > at);
  return end === -1 ? steps : steps.slice(0, end);
};

interface LaneState {
  readonly latestTime: number;
  readonly actors: ReadonlyMap<string, ShownActor>;
}

function computeLanes(page: Page, storyState: StoryState, { latestTime, actors }: LaneState): readonly Lane[] {
  const {
    loaded: { value: known },
    life: { value: story },
  } = storyState;
  if (!known || !story) return [];
  return storyLanes({
    story,
    steps: storyState.steps.value,
    selected: page.selected.value,
    from: storyState.range.value.from,
    now: Math.min(latestTime, known.isOpen ? latestTime : known.story.to),
    // In a recording, the actors are known only at the displayed time and not at the end of the recording.
    actors: page.mode === 'live' && known.isOpen ? actors : undefined,
  });
}

function computeSequence(
  page: Page,
  storyState: StoryState,
  subject: string,
  visibleBurst: VisibleBurst | undefined,
): Sequence | undefined {
  if (!visibleBurst) return undefined;
  const { burst, rows, after } = visibleBurst;
  const isOwn = ({ actor }: { readonly actor: string }) => actor === subject;
  const earlier = storyState.steps.value.findLast(({ moves, at }) => at < burst.from && moves.some(isOwn));
  const stateBefore = earlier?.moves.findLast(isOwn) ?? storyState.life.value?.before.find(isOwn);
  return sequenceOf({
    rows,
    subject,
    from: burst.from,
    before: stateBefore && {
      state: stateBefore.state,
      ...(stateBefore.tag === undefined ? {} : { tag: stateBefore.tag }),
    },
    now: after ? undefined : page.past.value ? undefined : page.now.value,
  });
}

/** Returns the name of the pod whose story is shown, or the node's name. */
export function storyName(page: Page): string {
  const selected = page.selected.value ?? '';
  const world = page.world.value;
  const pod = podOf(world, selected) ?? (podUidOf(selected) === undefined ? undefined : page.lastKnown.value?.pod);
  return pod ? podName(pod, world) : podUidOf(selected) === undefined ? world.node.name : 'pod';
}
