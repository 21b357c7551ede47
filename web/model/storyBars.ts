/** The stays of actors in states, as a story tells them: what lanes draw as bars. */
import type { Story, StoryLine } from '../../inspect/protocol.ts';
import { kindOf } from './storyWho.ts';

/** An actor was in a state. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly state: string;
  readonly tag?: string;
}

interface Until {
  /** What is shown begins here: of what ended before there is no more than the last bar of each actor. */
  readonly from?: number | undefined;
  /** What is shown ends here. */
  readonly now: number;
  /** Those that are there now; the others have ended with what was last told. Absent: it is not known. */
  readonly present?: { has(actor: string): boolean } | undefined;
}

/**
 * The stays of each actor, the earliest first and without a gap but where no agent ran; of a container that gets its
 * image, the stays of that.
 */
export function barsOf(story: Pick<Story, 'from' | 'before' | 'lines'>, until: Until): ReadonlyMap<string, Bar[]> {
  const bars = new Map<string, Bar[]>();
  const open = new Map<string, Bar>();
  const close = (actor: string, to: number) => {
    const bar = open.get(actor);
    open.delete(actor);
    // It has only passed what it was in for no time.
    if (bar && to > bar.from) add(bars, actor, { ...bar, to }, until.from);
  };
  for (const { actor, state, since, tag } of story.before)
    open.set(actor, { from: Math.min(since, story.from), to: since, state, ...(tag === undefined ? {} : { tag }) });
  let last = story.from;
  for (const line of story.lines) {
    if (line.at > until.now) break;
    if (line.kind === 'state') {
      close(line.actor, line.at);
      open.set(line.actor, barFrom(line));
    }
    // What an agent that was killed was doing is known up to what it told last.
    if (line.kind === 'began') for (const actor of [...open.keys()]) close(actor, last);
    if (line.kind === 'ended') for (const actor of [...open.keys()]) close(actor, line.at);
    last = line.at;
  }
  const isPresent = (actor: string) => until.present?.has(actor) ?? true;
  for (const actor of [...open.keys()]) close(actor, isPresent(actor) ? until.now : last);
  return withImages(bars);
}

const barFrom = ({ at, state, tag }: Extract<StoryLine, { kind: 'state' }>): Bar => ({
  from: at,
  to: at,
  state,
  ...(tag === undefined ? {} : { tag }),
});

function add(lists: Map<string, Bar[]>, actor: string, bar: Bar, from = Number.NEGATIVE_INFINITY): void {
  const list = lists.get(actor);
  const last = list?.at(-1);
  if (list === undefined || last === undefined || last.to < from) lists.set(actor, [bar]);
  else list.push(bar);
}

/** The state of whoever gets an image says less than that of the image. */
const GETTING = 'gettingImage';

function withImages(bars: ReadonlyMap<string, Bar[]>): ReadonlyMap<string, Bar[]> {
  return new Map(
    [...bars].map(([actor, own]) => {
      const image = kindOf(actor) === 'image' ? undefined : bars.get(`${actor}/image`);
      return [actor, image ? own.flatMap((bar) => (bar.state.endsWith(GETTING) ? within(bar, image) : [bar])) : own];
    }),
  );
}

/** A bar in the states of others as far as there are such. */
function within(bar: Bar, others: readonly Bar[]): Bar[] {
  const parts: Bar[] = [];
  let at = bar.from;
  for (const other of others) {
    const from = Math.max(other.from, at);
    const to = Math.min(other.to, bar.to);
    if (to <= from) continue;
    if (from > at) parts.push({ ...bar, from: at, to: from });
    parts.push({ ...other, from, to, state: `image.${other.state}` });
    at = to;
  }
  return at < bar.to ? [...parts, { ...bar, from: at }] : parts;
}
