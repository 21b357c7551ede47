/** What is shown of the selected actor below the tree. */

import { printableLine } from '../../../../base/printable.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import { clockTime, forClause, untilClause } from '../../../../show/explain/explainText.ts';
import * as display from '../../../../show/tables/displayWidth.ts';
import type { Detail } from './detail.ts';
import type { Told } from './story.ts';

/** The selected actor with all that is known of it. */
export interface TopDetail {
  readonly row: ActorRow;
  /** Absent until it was asked for. */
  readonly asked?: Detail | undefined;
  readonly moves: readonly Told[];
  /** When its actors were looked at first, and last. */
  readonly since: number;
  readonly at: number;
}

interface Room {
  readonly width: number;
  readonly height: number;
  /** How many of the latest lines of the story are scrolled past. */
  readonly offset: number;
}

/** So many lines of the story are seen, however much else there is to say. */
const LEAST_STORY = 4;

/** Its heading, then why it is so, the end of its log, and its story up to what happened last. */
export function detailLines(detail: TopDetail | undefined, { width, height, offset }: Room): string[] {
  if (detail === undefined || height < 1) return Array.from({ length: Math.max(0, height) }, () => '');
  const fitted = (lines: readonly string[]) => lines.flatMap((line) => indented(line, width));
  const title = display.truncate(printableLine(`── ${titleOf(detail)} `).padEnd(width, '─'), width);
  const [heading, ...story] = fitted(storyLines(detail));
  const said = fitted([...answerLines(detail), ...logLines(detail)]).slice(0, Math.max(1, height - 1 - LEAST_STORY));
  const room = Math.max(0, height - 2 - said.length);
  const past = Math.max(0, Math.min(offset, story.length - room));
  const seen = story.slice(Math.max(0, story.length - room - past), story.length - past);
  const lines = [title, ...said, heading ?? '', ...seen].slice(0, height);
  return [...lines, ...Array.from({ length: height - lines.length }, () => '')];
}

/** A text in several lines, those that go on further in. */
function indented(text: string, width: number): string[] {
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

function answerLines({ row: { actor }, asked, at }: TopDetail): string[] {
  const state = `${actor.state}${actor.waitingFor === undefined ? '' : `, waiting${forClause(actor)}${untilClause(actor.until, at)}`}`;
  return [...(asked?.answer === undefined ? [] : [asked.answer]), state];
}

function logLines({ asked }: TopDetail): string[] {
  if (asked?.log === undefined) return [];
  const { file, lines } = asked.log;
  return [`${lines.length === 0 ? 'no output in' : 'last lines of'} ${file}`, ...lines.map((line) => `  | ${line}`)];
}

function storyLines({ asked, moves, since, at }: TopDetail): string[] {
  const all = [...(asked?.events ?? []), ...moves].toSorted((a, b) => a.at - b.at);
  const heading = `story: seen once a second since ${clockTime(since, at)}${asked?.events.length ? ', with the events of the last hour' : ''}`;
  if (all.length === 0) return [heading, '  nothing has changed'];
  return [heading, ...all.map((told) => `  ${clockTime(told.at, at)} ${told.text}`)];
}
