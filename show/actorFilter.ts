/** What is written to find actors, on the page, in `get actors` and in `top`: `web is:retrying waits>30s`. */

import { lookUp } from '../base/lookUp.ts';
import { nearest } from '../base/nearest.ts';
import { parseDuration } from '../kubernetes/api/parseDuration.ts';
import type { ActorNode } from './actorNode.ts';
import { CATEGORIES, categoryOf, isWell } from './category.ts';
import { kindText } from './explainText.ts';

/** An actor as a filter sees it. */
export interface FilteredActor {
  readonly node: Pick<
    ActorNode,
    'machine' | 'kind' | 'name' | 'state' | 'tags' | 'since' | 'waitingFor' | 'lastFailure'
  >;
  /** Of an actor of a pod: where that is, and what it is called. */
  readonly namespace?: string | undefined;
  readonly podName?: string | undefined;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

/** Whether an actor is looked for. */
export type ActorFilter = (actor: FilteredActor) => boolean;

/** What a text asks for, or in one sentence what is wrong with it. */
export type ReadFilter = { readonly matches: ActorFilter } | { readonly problem: string };

/** The keys with what they compare. */
const FIELDS: Readonly<Record<string, (value: string) => ReadFilter>> = {
  state: (value) => ({ matches: ({ node }) => `.${lower(node.state).replaceAll(' ', '.')}`.includes(`.${value}`) }),
  ns: (value) => ({ matches: ({ namespace }) => lower(namespace) === value }),
  kind: (value) => ({ matches: ({ node }) => kindsOf(node).includes(value) }),
  is: isOfCategory,
};

const SPANS: Readonly<Record<string, (node: FilteredActor['node']) => boolean>> = {
  waits: ({ waitingFor }) => waitingFor !== undefined,
  changed: () => true,
};

const KEYS = ['state:', 'ns:', 'kind:', 'is:', 'waits>', 'waits<', 'changed<', 'changed>'];

const lower = (text = ''): string => text.toLowerCase();

/** A container is one of its role, and one of all of them. */
const kindsOf = ({ machine, kind }: FilteredActor['node']): string[] => [machine, kind, kindText(kind)].map(lower);

function isOfCategory(value: string): ReadFilter {
  const category = CATEGORIES.find((each) => each === value);
  if (category) return { matches: ({ node }) => categoryOf(node) === category };
  return { problem: `is:${value}: expected one of ${CATEGORIES.join(', ')}${meant(value, CATEGORIES)}` };
}

const meant = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
};

/** For how long it has been in its state, which of one that waits is how long it has waited. */
function spanOf(word: string, [key, sign, length]: readonly [string, string, string]): ReadFilter {
  const counts = lookUp(SPANS, key);
  if (counts === undefined) return { problem: unknownKey(word, `${key}${sign}`) };
  const ms = parseDuration(length);
  if (ms === undefined) return { problem: `${word}: expected a duration such as 30s or 1m30s after ${key}${sign}` };
  const isSo = (span: number) => (sign === '>' ? span > ms : span < ms);
  return { matches: ({ node, now }) => counts(node) && isSo(now - node.since) };
}

const unknownKey = (word: string, key: string): string =>
  `${word}: unknown filter ${key}${meant(key, KEYS) || `; there are ${KEYS.join(' ')}`}`;

/** What has the text in what it is called or in what is said of it. */
const withText =
  (text: string): ActorFilter =>
  ({ node, namespace, podName }) => {
    const { kind, name, state, waitingFor, lastFailure } = node;
    const place = podName === undefined ? '' : `${namespace}/${podName}`;
    const failure = isWell(categoryOf(node)) ? undefined : lastFailure;
    const said = [waitingFor, failure?.reason, failure?.message];
    return [place, kind, name, state, ...said].some((each) => lower(each).includes(text));
  };

function wordOf(word: string): ReadFilter {
  const [, key, colon = '', value = ''] = /^([a-z]+)(:)(.*)$/.exec(word) ?? [];
  if (key !== undefined) {
    const field = lookUp(FIELDS, key);
    if (field === undefined) return { problem: unknownKey(word, `${key}${colon}`) };
    return value === '' ? { problem: `${word}: expected a value after ${word}` } : field(value);
  }
  const [, span, sign = '', length = ''] = /^([a-z]+)([<>])(.*)$/.exec(word) ?? [];
  return span === undefined ? { matches: withText(word) } : spanOf(word, [span, sign, length]);
}

/**
 * Reads a filter: words that all have to hold of an actor, in any case. One of `KEYS` asks for what it names, any other
 * word for actors that have it in their names, states or failures. An empty filter lets all through.
 */
export function readFilter(text: string): ReadFilter {
  const words = lower(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  const filters: ActorFilter[] = [];
  for (const word of words) {
    const read = wordOf(word);
    if ('problem' in read) return read;
    filters.push(read.matches);
  }
  return { matches: (actor) => filters.every((each) => each(actor)) };
}
