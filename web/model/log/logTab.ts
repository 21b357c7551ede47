/**
 * Loads and searches the log of the selected container, for the log tab. Reloads the log every second while the tab is
 * open.
 */
import { signal } from '@preact/signals';
import type { ShownLog } from '../../../inspect/protocol.ts';
import { containerNameOf, podUidOf } from '../../../show/actors/actorPath.ts';
import { errorMessage } from '../navigation/actions.ts';
import type { Page } from '../page.ts';
import { requestOnChange } from '../server/requestOnChange.ts';

/** The log of a container as last loaded. */
interface LoadedLog {
  /** Path of the container. */
  readonly container: string;
  readonly content?: ShownLog;
  /** Error message of the last failed request. */
  readonly error?: string;
}

export const createLogTab = () => ({
  log: signal<LoadedLog | undefined>(undefined),
  /** Text to search for. Lines without it are hidden. If empty, all lines are shown. */
  search: signal(''),
  /** Whether the view scrolls down to new lines. */
  isFollowed: signal(true),
  /** Number of times that the user has clicked Retry. */
  retries: signal(0),
});

type LogTab = ReturnType<typeof createLogTab>;

/** Returns the path of the container to which an actor belongs, if any. */
export function containerPathOf(path: string): string | undefined {
  const [uid, name] = [podUidOf(path), containerNameOf(path)];
  return name === undefined ? undefined : `pod/${uid}/container/${name}`;
}

interface LogRequest {
  readonly container: string;
  readonly at: number;
  readonly retries: number;
}

interface FollowOptions {
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  readonly isVisible: () => boolean;
}

/**
 * Loads the log of the selected container and reloads it regularly. Returns a function that stops this. Logs are not
 * available for past times.
 */
export const followLog = (page: Page, tab: LogTab, { setTimeout, isVisible }: FollowOptions): (() => void) =>
  requestOnChange<LogRequest>({
    setTimeout,
    currentRequest: () => (isVisible() ? currentRequest(page, tab) : undefined),
    isSameRequest: (a, b) => a.container === b.container && a.at === b.at && a.retries === b.retries,
    isUrgent: (a, b) => a.container !== b.container,
    send: ({ container }) => loadLog(page, tab, container),
  });

/** Returns the request to send, which changes every second for a live log. Undefined if no log can be requested. */
function currentRequest(page: Page, { retries }: LogTab): LogRequest | undefined {
  const container = containerPathOf(page.selectedPath.value ?? '');
  const isStatic = page.mode !== 'live' || page.past.value !== undefined || page.connection.value.kind === 'lost';
  if (container === undefined || isStatic || !page.live.value.actors.has(container)) return undefined;
  return { container, at: page.browserTime.value, retries: retries.value };
}

/** Loads the log. The previous lines remain visible until the response has arrived. */
async function loadLog(page: Page, { log }: LogTab, container: string): Promise<void> {
  const isStillSelected = () => containerPathOf(page.selectedPath.peek() ?? '') === container;
  try {
    const content = await page.client.log(container);
    if (isStillSelected()) log.value = { container, content };
  } catch (error) {
    const previousLog = log.peek()?.container === container ? log.peek() : undefined;
    if (isStillSelected()) log.value = { ...previousLog, container, error: errorMessage(error) };
  }
}

/** A part of a line. If `isMatch` is set, the part contains the search text. */
interface LinePart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** A line with its index in the whole log. */
export interface MatchingLine {
  readonly index: number;
  readonly lineParts: readonly LinePart[];
}

/** Returns the lines that contain the search text, ignoring case. Returns all lines if the search text is empty. */
export function matchingLines(lines: readonly string[], search: string): MatchingLine[] {
  const lowerCaseSearch = search.toLowerCase();
  return lines.flatMap((line, index) => {
    if (lowerCaseSearch === '') return [{ index, lineParts: [{ text: line, isMatch: false }] }];
    const lineParts = splitByMatch(line, lowerCaseSearch);
    return lineParts.some(({ isMatch }) => isMatch) ? [{ index, lineParts }] : [];
  });
}

function splitByMatch(line: string, lowerCaseSearch: string): LinePart[] {
  const lowerCaseLine = line.toLowerCase();
  // Do not locate the matches within the line, because the lower-case line has a different length and thus different
  // offsets.
  if (lowerCaseLine.length !== line.length) return [{ text: line, isMatch: lowerCaseLine.includes(lowerCaseSearch) }];
  const lineParts: LinePart[] = [];
  let from = 0;
  for (let at = lowerCaseLine.indexOf(lowerCaseSearch); at >= 0; at = lowerCaseLine.indexOf(lowerCaseSearch, from)) {
    if (at > from) lineParts.push({ text: line.slice(from, at), isMatch: false });
    lineParts.push({ text: line.slice(at, at + lowerCaseSearch.length), isMatch: true });
    from = at + lowerCaseSearch.length;
  }
  if (from < line.length) lineParts.push({ text: line.slice(from), isMatch: false });
  return lineParts;
}
