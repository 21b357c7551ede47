/** Renders the detail of the selected actor below the tree. */

import { printableLine } from '../../../../base/text/printable.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import { clockTime, forClause, untilClause } from '../../../../show/explain/explainText.ts';
import * as display from '../../../../show/tables/displayWidth.ts';
import type { ActorDetail } from './fetchDetail.ts';
import type { StoryEntry } from './story.ts';

export interface TopDetail {
  readonly row: ActorRow;
  /** The explanation, log and events of the actor. Undefined until they have been fetched. */
  readonly explanation?: ActorDetail | undefined;
  readonly entries: readonly StoryEntry[];
  /** Time of the first poll. `at` is the time of the last poll. */
  readonly since: number;
  readonly at: number;
}

interface DetailArea {
  readonly width: number;
  readonly height: number;
  /** Number of lines scrolled back from the end of the story. */
  readonly offset: number;
}

/** Minimum number of lines of the story, including its heading, that remain visible below a long explanation or log. */
const MIN_STORY_LINES = 4;

/** Returns the title, the explanation, the end of the log, and the visible lines of the story. */
export function detailLines(detail: TopDetail | undefined, { width, height, offset }: DetailArea): string[] {
  if (detail === undefined || height < 1) return Array.from({ length: Math.max(0, height) }, () => '');
  const wrap = (lines: readonly string[]) => lines.flatMap((line) => wrapIndented(line, width));
  const title = display.truncate(printableLine(`── ${titleOf(detail)} `).padEnd(width, '─'), width);
  const [heading, ...story] = wrap(storyLines(detail));
  const fixedLines = wrap([...answerLines(detail), ...logLines(detail)]).slice(
    0,
    Math.max(1, height - 1 - MIN_STORY_LINES),
  );
  const storyHeight = Math.max(0, height - 2 - fixedLines.length);
  const skippedCount = Math.max(0, Math.min(offset, story.length - storyHeight));
  const visibleLines = story.slice(Math.max(0, story.length - storyHeight - skippedCount), story.length - skippedCount);
  const detailRows = [title, ...fixedLines, heading ?? '', ...visibleLines].slice(0, height);
  return [...detailRows, ...Array.from({ length: height - detailRows.length }, () => '')];
}

/** Wraps text. Continuation lines are indented further. */
function wrapIndented(text: string, width: number): string[] {
  const indent = /^ */.exec(text)?.[0] ?? '';
  const [first = '', ...rest] = display.wrapText(
    printableLine(text.trimStart()),
    Math.max(8, width - indent.length - 2),
  );
  return [indent + first, ...rest.map((line) => `${indent}  ${line}`)];
}

function titleOf({ row: { kind, name, pod: rowPod, actor } }: TopDetail): string {
  const { namespace, name: pod } = rowPod ?? {};
  return actor.machine === 'pod' ? `pod ${namespace}/${pod}` : `${kind} ${name}${pod ? ` of ${namespace}/${pod}` : ''}`;
}

function answerLines({ row: { actor }, explanation, at }: TopDetail): string[] {
  const state = `${actor.state}${actor.waitingFor === undefined ? '' : `, waiting${forClause(actor)}${untilClause(actor.until, at)}`}`;
  return [...(explanation?.answer === undefined ? [] : [explanation.answer]), state];
}

function logLines({ explanation }: TopDetail): string[] {
  if (explanation?.log === undefined) return [];
  const { file, lines } = explanation.log;
  return [`${lines.length === 0 ? 'no output in' : 'last lines of'} ${file}`, ...lines.map((line) => `  | ${line}`)];
}

function storyLines({ explanation, entries, since, at }: TopDetail): string[] {
  const allEntries = [...(explanation?.events ?? []), ...entries].toSorted((a, b) => a.at - b.at);
  const heading = `story: polled once a second since ${clockTime(since, at)}${explanation?.events.length ? ', with the events of the last hour' : ''}`;
  if (allEntries.length === 0) return [heading, '  no changes'];
  return [heading, ...allEntries.map((entry) => `  ${clockTime(entry.at, at)} ${entry.description}`)];
}
