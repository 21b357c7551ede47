/** Computes the values that several story panels derive from the story. */

import { computed, type ReadonlySignal } from '@preact/signals';
import type { ShownActor } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import { podName, podOf } from '../navigation/selection.ts';
import type { Page } from '../page.ts';
import { type Lane, storyLanes } from './lanes/storyLanes.ts';
import { type Burst, burstIndexAt, createBurstGrouper } from './rows/storyBursts.ts';
import { type Row, representativeOf, storyRows } from './rows/storyRows.ts';
import { buildSequence, type Sequence } from './rows/storySequence.ts';
import { latestKnownTime, type StoryState } from './storyState.ts';

/** The displayed burst and its neighbors. */
export interface VisibleBurst {
  readonly burst: Burst;
  readonly previousBurst?: Burst;
  readonly nextBurst?: Burst;
  /**
   * Index of the last row at or before the displayed time that shows a state change of the subject. -1 if there is
   * none.
   */
  readonly currentIndex: number;
  /** Index of the first row after the displayed time. */
  readonly laterIndex: number;
  readonly rows: readonly Row[];
}

/**
 * Creates the derived signals of the story. Signals that are computed from many lines do not depend on the clock, so
 * that its ticks do not recompute them.
 */
export function createStoryView(page: Page, storyState: StoryState) {
  /** The actor that the story is about. For an image, this is the actor that waits for it. */
  const subject = computed(() => representativeOf(page.selectedPath.value ?? ''));
  /**
   * End of the known story. It advances even while a past time is displayed, and may be ahead of the clock, which has a
   * resolution of one second.
   */
  const latestTime = computed(() => {
    if (page.frozen.value && !page.past.value) return page.now.value;
    const loadedStory = storyState.loaded.value;
    return Math.max(latestKnownTime(page), loadedStory?.isOpen ? loadedStory.story.to : Number.NEGATIVE_INFINITY);
  });
  const currentTime = computed(() => (page.past.value ? page.now.value : latestTime.value));
  const steps = computed(() => stepsUntil(storyState.steps.value, latestTime.value));
  const groupBursts = createBurstGrouper();
  const bursts = computed(() => groupBursts(steps.value, subject.value));
  const visibleBurst = createVisibleBurst({ storyState, subject, currentTime, bursts });
  const currentActors = createPresentActors(page);
  return {
    subject,
    latestTime,
    bursts,
    visibleBurst,
    lanes: computed<readonly Lane[]>(() =>
      computeLanes(page, storyState, { latestTime: latestTime.value, actors: currentActors.value }),
    ),
    sequence: computed<Sequence | undefined>(() =>
      computeSequence(page, storyState, subject.value, visibleBurst.value),
    ),
  };
}

interface Bursts {
  readonly storyState: StoryState;
  readonly subject: ReadonlySignal<string>;
  readonly currentTime: ReadonlySignal<number>;
  readonly bursts: ReadonlySignal<readonly Burst[]>;
}

function createVisibleBurst({
  storyState,
  subject,
  currentTime,
  bursts,
}: Bursts): ReadonlySignal<VisibleBurst | undefined> {
  const index = computed(() => burstIndexAt(bursts.value, storyState.selectedBurst.value ?? currentTime.value));
  const rows = computed(() => {
    const burst = bursts.value[index.value];
    const isSampled = podUidOf(subject.value) === undefined;
    return burst ? storyRows(burst.steps, { subject: subject.value, isSampled }) : [];
  });
  const currentIndex = computed(() =>
    rows.value.findLastIndex((row) => row.at <= currentTime.value && movesSubject(row, subject.value)),
  );
  const laterIndex = computed(() => {
    const firstLaterIndex = rows.value.findIndex((row) => row.at > currentTime.value);
    return firstLaterIndex === -1 ? rows.value.length : firstLaterIndex;
  });
  return computed(() => {
    const [previous, burst, next] = [-1, 0, 1].map((aside) => bursts.value[index.value + aside]);
    if (!burst) return undefined;
    const adjacentBursts = {
      ...(previous ? { previousBurst: previous } : {}),
      ...(next ? { nextBurst: next } : {}),
    };
    return {
      burst,
      ...adjacentBursts,
      rows: rows.value,
      currentIndex: currentIndex.value,
      laterIndex: laterIndex.value,
    };
  });
}

/**
 * Returns the actors of the selected pod, or of the node. While no actor changes, the map is the same object, so that
 * dependent signals are not recomputed.
 */
function createPresentActors(page: Page): ReadonlySignal<ReadonlyMap<string, ShownActor>> {
  let previousActors: ReadonlyMap<string, ShownActor> = new Map();
  return computed(() => {
    const world = page.past.value && page.mode === 'live' ? page.live.value : page.world.value;
    const uid = podUidOf(page.selectedPath.value ?? '');
    const podActors = new Map([...world.actors].filter(([path]) => podUidOf(path) === uid));
    const isUnchanged =
      podActors.size === previousActors.size &&
      [...podActors].every(([path, actor]) => previousActors.get(path) === actor);
    if (!isUnchanged) previousActors = podActors;
    return previousActors;
  });
}

export type StoryView = ReturnType<typeof createStoryView>;

/** Whether a row changed the state of the subject. */
const movesSubject = ({ kind, move }: Row, subject: string): boolean =>
  kind !== 'event' && move !== undefined && representativeOf(move.actor) === subject;

const stepsUntil = (steps: StoryState['steps']['value'], at: number): StoryState['steps']['value'] => {
  const end = steps.findIndex((step) => step.at > at);
  return end === -1 ? steps : steps.slice(0, end);
};

interface LaneState {
  readonly latestTime: number;
  readonly actors: ReadonlyMap<string, ShownActor>;
}

function computeLanes(page: Page, storyState: StoryState, { latestTime, actors }: LaneState): readonly Lane[] {
  const {
    loaded: { value: loadedStory },
    life: { value: story },
  } = storyState;
  if (!loadedStory || !story) return [];
  return storyLanes({
    story,
    steps: storyState.steps.value,
    selectedPath: page.selectedPath.value,
    from: storyState.range.value.from,
    now: Math.min(latestTime, loadedStory.isOpen ? latestTime : loadedStory.story.to),
    // Omit the actors of a recording, because they are known only at the displayed time and not at the end of the
    // story.
    actors: page.mode === 'live' && loadedStory.isOpen ? actors : undefined,
  });
}

function computeSequence(
  page: Page,
  storyState: StoryState,
  subject: string,
  visibleBurst: VisibleBurst | undefined,
): Sequence | undefined {
  if (!visibleBurst) return undefined;
  const { burst, rows, nextBurst } = visibleBurst;
  const concernsSubject = ({ actor }: { readonly actor: string }) => actor === subject;
  const earlierStep = storyState.steps.value.findLast(
    ({ moves, at }) => at < burst.from && moves.some(concernsSubject),
  );
  const stateBefore =
    earlierStep?.moves.findLast(concernsSubject) ?? storyState.life.value?.before.find(concernsSubject);
  return buildSequence({
    rows,
    subject,
    from: burst.from,
    stateBefore: stateBefore && {
      state: stateBefore.state,
      ...(stateBefore.tag === undefined ? {} : { tag: stateBefore.tag }),
    },
    now: nextBurst ? undefined : page.past.value ? undefined : page.now.value,
  });
}

/** Returns the name of the pod whose story is shown, or the node's name. */
export function storyName(page: Page): string {
  const selectedPath = page.selectedPath.value ?? '';
  const world = page.world.value;
  const pod =
    podOf(world, selectedPath) ?? (podUidOf(selectedPath) === undefined ? undefined : page.lastKnown.value?.pod);
  return pod ? podName(pod, world) : podUidOf(selectedPath) === undefined ? world.node.name : 'pod';
}
