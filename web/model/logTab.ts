/**
 * The log tab of the selected container, with a text search. The log is reloaded every second while the tab is open.
 */
import { signal } from '@preact/signals';
import type { ShownLog } from '../../inspect/protocol.ts';
import { containerNameOf, podUidOf } from '../../show/actorPath.ts';
import { messageOf } from './actions.ts';
import { keepAsking } from './keepAsking.ts';
import type { Page } from './page.ts';

/** The latest log of a container that the page has received. */
interface KnownLog {
  /** Path of the container. */
  readonly container: string;
  readonly shown?: ShownLog;
  /** Error message of the last failed request. */
  readonly trouble?: string;
}

export const createLogTab = () => ({
  log: signal<KnownLog | undefined>(undefined),
  /** Text that the visible lines contain. Empty to show all lines. */
  search: signal(''),
  /** Whether the view scrolls to new lines. */
  isFollowed: signal(true),
  /** Number of retries requested by the user. */
  tries: signal(0),
});

type LogTab = ReturnType<typeof createLogTab>;

/** Returns the path of the container that contains the actor, if any. */
export function containerPathOf(path: string): string | undefined {
  const [uid, name] = [podUidOf(path), containerNameOf(path)];
  return name === undefined ? undefined : `pod/${uid}/container/${name}`;
}

interface LogQuestion {
  readonly container: string;
  readonly at: number;
  readonly tries: number;
}

interface Waits {
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  readonly isSeen: () => boolean;
}

/** Loads the log of the selected container until the returned function is called. Past logs are not available. */
export const followLog = (page: Page, tab: LogTab, { setTimeout, isSeen }: Waits): (() => void) =>
  keepAsking<LogQuestion>({
    setTimeout,
    question: () => (isSeen() ? questionOf(page, tab) : undefined),
    isSame: (one, other) => one.container === other.container && one.at === other.at && one.tries === other.tries,
    isUrgent: (one, other) => one.container !== other.container,
    ask: ({ container }) => readLog(page, tab, container),
  });

/** Returns the current request. A live log is requested every second. Undefined while nothing new is expected. */
function questionOf(page: Page, { tries }: LogTab): LogQuestion | undefined {
  const container = containerPathOf(page.selected.value ?? '');
  const isStill = page.mode !== 'live' || page.past.value !== undefined || page.connection.value.kind === 'lost';
  if (container === undefined || isStill || !page.live.value.actors.has(container)) return undefined;
  return { container, at: page.wall.value, tries: tries.value };
}

/** Loads the log. The previous lines stay visible until the response arrives. */
async function readLog(page: Page, { log }: LogTab, container: string): Promise<void> {
  const isWanted = () => containerPathOf(page.selected.peek() ?? '') === container;
  try {
    const shown = await page.asking.log(container);
    if (isWanted()) log.value = { container, shown };
  } catch (error) {
    const known = log.peek()?.container === container ? log.peek() : undefined;
    if (isWanted()) log.value = { ...known, container, trouble: messageOf(error) };
  }
}

/** A part of a line. `isMatch` marks an occurrence of the search text. */
interface LinePart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** A line with its index in the whole log. */
export interface FoundLine {
  readonly at: number;
  readonly parts: readonly LinePart[];
}

/** Returns the lines that contain the search text, ignoring case. Returns all lines if the text is empty. */
export function foundLines(lines: readonly string[], search: string): FoundLine[] {
  const wanted = search.toLowerCase();
  return lines.flatMap((line, at) => {
    if (wanted === '') return [{ at, parts: [{ text: line, isMatch: false }] }];
    const parts = partsOf(line, wanted);
    return parts.some(({ isMatch }) => isMatch) ? [{ at, parts }] : [];
  });
}

function partsOf(line: string, wanted: string): LinePart[] {
  const lower = line.toLowerCase();
  // A letter whose lower case has a different length would shift the offsets of the matches.
  if (lower.length !== line.length) return [{ text: line, isMatch: lower.includes(wanted) }];
  const parts: LinePart[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) parts.push({ text: line.slice(from, at), isMatch: false });
    parts.push({ text: line.slice(at, at + wanted.length), isMatch: true });
    from = at + wanted.length;
  }
  if (from < line.length) parts.push({ text: line.slice(from), isMatch: false });
  return parts;
}
