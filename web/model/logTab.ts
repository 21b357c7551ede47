/** The log of the selected container, read again each second while its tab is open, and what is searched for in it. */
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
  /** Why it could not be read. */
  readonly trouble?: string;
}

/** The state of the tab. */
export const createLogTab = () => ({
  log: signal<KnownLog | undefined>(undefined),
  /** The lines that contain this text are shown; all if it is empty. */
  search: signal(''),
  /** Whether the last line stays in sight. */
  isFollowed: signal(true),
  /** The number of attempts that the user has requested. */
  tries: signal(0),
});

type LogTab = ReturnType<typeof createLogTab>;

/** Returns the path of the container that an actor is, or is part of. */
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
  /** Whether the tab is open. */
  readonly isSeen: () => boolean;
}

/** Keeps the log to the selected container until the function that it returns is called. There is none of the past. */
export const followLog = (page: Page, tab: LogTab, { setTimeout, isSeen }: Waits): (() => void) =>
  keepAsking<LogQuestion>({
    setTimeout,
    question: () => (isSeen() ? questionOf(page, tab) : undefined),
    isSame: (one, other) => one.container === other.container && one.at === other.at && one.tries === other.tries,
    isUrgent: (one, other) => one.container !== other.container,
    ask: ({ container }) => readLog(page, tab, container),
  });

/** Each second, while the node goes on and the container is there. */
function questionOf(page: Page, { tries }: LogTab): LogQuestion | undefined {
  const container = containerPathOf(page.selected.value ?? '');
  const isStill = page.mode !== 'live' || page.past.value !== undefined || page.connection.value.kind === 'lost';
  if (container === undefined || isStill || !page.live.value.actors.has(container)) return undefined;
  return { container, at: page.wall.value, tries: tries.value };
}

/** The lines that are known stay until the answer has come. */
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

/** A part of a line; a match is what was searched for. */
interface LinePart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** A line with its place among all lines. */
export interface FoundLine {
  readonly at: number;
  readonly parts: readonly LinePart[];
}

/** Returns the lines that contain a text, ignoring case, or all lines if the text is empty. */
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
  // A letter whose lower case is longer would move the matches.
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
