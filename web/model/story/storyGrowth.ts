/** Appends lines to a story, and drops the oldest lines if there are too many. */

import type { Story, StoryLine } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import { findCategory } from '../../../show/category.ts';
import type { World } from '../server/world.ts';

/** Maximum number of lines in a story. */
const MAX_LINES = 20_000;

/** Whether a line concerns a pod. An empty UID refers to the node itself. */
export function concernsPod(line: StoryLine, uid: string): boolean {
  if (line.kind === 'began' || line.kind === 'ended') return true;
  if (line.kind === 'event' || line.kind === 'gone') return line.uid === uid;
  if (line.kind === 'entered' && line.uid !== undefined) return line.uid === uid;
  return (podUidOf(line.actor) ?? '') === uid;
}

/**
 * Appends lines to a story. `unsaid` is the number of lines that the server has omitted. Lines that are dropped from
 * the start are counted as omitted, too.
 */
export function appendLines(story: Story, lines: readonly StoryLine[], unsaid: number, maxLines = MAX_LINES): Story {
  const allLines = [...story.lines, ...lines];
  // Drop excess lines in batches rather than for each new line, because dropped lines have to be scanned for the
  // actors' states at the new start of the story.
  const excessLineCount = allLines.length > maxLines * 1.1 ? allLines.length - maxLines : 0;
  const unsaidCount = (story.unsaid ?? 0) + unsaid + excessLineCount;
  const remainingStory =
    excessLineCount === 0
      ? { from: story.from, before: story.before, lines: allLines }
      : dropLines(story, allLines, excessLineCount);
  return {
    ...remainingStory,
    to: Math.max(story.to, lines.at(-1)?.at ?? story.to),
    ...(unsaidCount === 0 ? {} : { unsaid: unsaidCount }),
  };
}

function dropLines(
  { before }: Story,
  allLines: readonly StoryLine[],
  count: number,
): Pick<Story, 'from' | 'before' | 'lines'> {
  const states = new Map(before.map((each) => [each.actor, each]));
  for (const line of allLines.slice(0, count)) {
    if (line.kind === 'began' || line.kind === 'gone') states.clear();
    if (line.kind !== 'state') continue;
    const { actor, state, at, tag } = line;
    states.set(actor, { actor, state, since: at, ...(tag === undefined ? {} : { tag }) });
  }
  const retainedLines = allLines.slice(count);
  return { from: retainedLines[0]?.at ?? 0, before: [...states.values()], lines: retainedLines };
}

/**
 * Returns the time from which the story is complete. If lines have been omitted, this is the time of the first
 * remaining line.
 */
export const completeFrom = ({ unsaid, from, lines }: Story): number =>
  unsaid === undefined ? from : (lines[0]?.at ?? from);

/**
 * Adds the missing end to a story. `continuation` contains all lines since the end of `story`. If some of these lines
 * were omitted, `continuation` replaces `story`.
 */
export function mergeMissing(story: Story, continuation: Story): Story {
  if (continuation.unsaid !== undefined)
    return { ...continuation, unsaid: (story.unsaid ?? 0) + story.lines.length + continuation.unsaid };
  const earlierLines = story.lines.filter(({ at }) => at < continuation.from);
  // Retain these lines, because an agent that was killed may have sent lines without recording them.
  const unrecordedLines = newLines(
    story.lines.filter(({ at }) => at >= continuation.from),
    continuation,
  );
  return appendLines(
    { ...story, lines: earlierLines, to: continuation.to },
    [...unrecordedLines, ...continuation.lines],
    0,
  );
}

/** Returns the lines that are not yet part of the story. */
export function newLines(lines: readonly StoryLine[], { lines: storyLines }: Pick<Story, 'lines'>): StoryLine[] {
  const earliestAt = lines.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const knownLines = new Set(storyLines.filter(({ at }) => at >= earliestAt).map((line) => JSON.stringify(line)));
  return lines.filter((line) => !knownLines.has(JSON.stringify(line)));
}

/** Initial states in the story of a recreated pod. Empty, because these states are unknown. */
const NO_STATES_BEFORE: Story['before'] = [];

/**
 * Creates a function that reduces a story to the pod that existed at a given time. Several pods can have the same UID
 * in succession, e.g. if a static pod is created again. A removed pod is shown until the first line of its successor.
 * Calls with the same result return the same object.
 */
export function createPodStorySelector(): (story: Story, at: number) => Story {
  let cachedSelection:
    | { readonly story: Story; readonly from: number; readonly to: number; readonly cut: Story }
    | undefined;
  return (story, at) => {
    const { lines } = story;
    const podEnds = lines.flatMap(({ kind }, index) => (kind === 'gone' ? [index + 1] : []));
    if (podEnds.length === 0) return story;
    const from =
      podEnds.findLast((end) => (lines.slice(end).find(provesExistence)?.at ?? Number.POSITIVE_INFINITY) <= at) ?? 0;
    const to = podEnds.find((end) => end > from) ?? lines.length;
    if (cachedSelection?.story === story && cachedSelection.from === from && cachedSelection.to === to)
      return cachedSelection.cut;
    const statesBefore = from === 0 ? story.before : NO_STATES_BEFORE;
    const cut =
      from === 0 && to === lines.length ? story : { ...story, before: statesBefore, lines: lines.slice(from, to) };
    cachedSelection = { story, from, to, cut };
    return cut;
  };
}

/** Whether a line proves that the pod exists. */
const provesExistence = ({ kind }: StoryLine): boolean => kind === 'state' || kind === 'asked';

/** Creates an empty story that starts now, with the current states of the actors. */
export function emptyStory({ at, actors }: World, uid: string): Story {
  const podActors = [...actors.values()].filter(({ path }) => (podUidOf(path) ?? '') === uid);
  return {
    from: at,
    to: at,
    lines: [],
    before: podActors.map(({ path, state, since, tags }) => {
      const tag = findCategory(tags);
      return { actor: path, state, since, ...(tag === undefined ? {} : { tag }) };
    }),
  };
}
