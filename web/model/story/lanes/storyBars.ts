/**
 * Converts a story, i.e. the history of a pod, into the periods during which actors were in their states. Lanes show
 * these periods as bars.
 */
import type { Story, StoryLine } from '../../../../inspect/protocol.ts';
import { kindOf } from '../storyWho.ts';

/** A period during which an actor was in a state. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly state: string;
  readonly tag?: string;
}

interface BarOptions {
  /** Start of the visible range. A bar that ends before this time is returned only if its actor has no later bar. */
  readonly from?: number | undefined;
  /** End of the visible range. */
  readonly now: number;
  /**
   * Actors that still exist. The bars of all other actors end with the last line of the story. Undefined if unknown.
   */
  readonly presentActors?: { has(actor: string): boolean } | undefined;
}

/**
 * Returns the bars of each actor in chronological order. There are no gaps except while no agent was running. While a
 * container or volume waits for its image, the bars of the image replace those of the container or volume.
 */
export function stateBars(
  story: Pick<Story, 'from' | 'before' | 'lines'>,
  options: BarOptions,
): ReadonlyMap<string, Bar[]> {
  const bars = new Map<string, Bar[]>();
  const openBars = new Map<string, Bar>();
  const closeBar = (actor: string, to: number) => {
    const bar = openBars.get(actor);
    openBars.delete(actor);
    // Skip states that the actor left at the same time as it entered them.
    if (bar && to > bar.from) addBar(bars, actor, { ...bar, to }, options.from);
  };
  for (const { actor, state, since, tag } of story.before)
    openBars.set(actor, { from: Math.min(since, story.from), to: since, state, ...(tag === undefined ? {} : { tag }) });
  let lastLineAt = story.from;
  for (const line of story.lines) {
    if (line.at > options.now) break;
    if (line.kind === 'state') {
      closeBar(line.actor, line.at);
      openBars.set(line.actor, createBar(line));
    }
    // End the bars at the last line, because the states after it are unknown if the previous agent was killed.
    if (line.kind === 'began') for (const actor of [...openBars.keys()]) closeBar(actor, lastLineAt);
    if (line.kind === 'ended') for (const actor of [...openBars.keys()]) closeBar(actor, line.at);
    lastLineAt = line.at;
  }
  const isPresent = (actor: string) => options.presentActors?.has(actor) ?? true;
  for (const actor of [...openBars.keys()]) closeBar(actor, isPresent(actor) ? options.now : lastLineAt);
  return overlayImages(bars);
}

const createBar = ({ at, state, tag }: Extract<StoryLine, { kind: 'state' }>): Bar => ({
  from: at,
  to: at,
  state,
  ...(tag === undefined ? {} : { tag }),
});

function addBar(barsByActor: Map<string, Bar[]>, actor: string, bar: Bar, from = Number.NEGATIVE_INFINITY): void {
  const actorBars = barsByActor.get(actor);
  const lastBar = actorBars?.at(-1);
  if (actorBars === undefined || lastBar === undefined || lastBar.to < from) barsByActor.set(actor, [bar]);
  else actorBars.push(bar);
}

/**
 * The state of an actor that waits for its image. Lanes show the state of the image instead, because it is more
 * specific.
 */
const GETTING_IMAGE = 'gettingImage';

function overlayImages(bars: ReadonlyMap<string, Bar[]>): ReadonlyMap<string, Bar[]> {
  return new Map(
    [...bars].map(([actor, actorBars]) => {
      const imageBars = kindOf(actor) === 'image' ? undefined : bars.get(`${actor}/image`);
      return [
        actor,
        imageBars
          ? actorBars.flatMap((bar) => (bar.state.endsWith(GETTING_IMAGE) ? overlayBars(bar, imageBars) : [bar]))
          : actorBars,
      ];
    }),
  );
}

/** Replaces the parts of a bar that are covered by overlays with these overlays. */
function overlayBars(bar: Bar, overlays: readonly Bar[]): Bar[] {
  const remainingBars: Bar[] = [];
  let at = bar.from;
  for (const overlay of overlays) {
    const from = Math.max(overlay.from, at);
    const to = Math.min(overlay.to, bar.to);
    if (to <= from) continue;
    if (from > at) remainingBars.push({ ...bar, from: at, to: from });
    remainingBars.push({ ...overlay, from, to, state: `image.${overlay.state}` });
    at = to;
  }
  return at < bar.to ? [...remainingBars, { ...bar, from: at }] : remainingBars;
}
