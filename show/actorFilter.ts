/** Filter expressions for actors, used by the page, `get actors` and `top`, e.g. `web is:retrying waits>30s`. */

import { lookUp } from '../base/lookUp.ts';
import { nearest } from '../base/nearest.ts';
import { parseDuration } from '../kubernetes/api/parseDuration.ts';
import type { ActorNode } from './actorNode.ts';
import { CATEGORIES, categoryOf, isWell } from './category.ts';
import { kindText } from './explainText.ts';

/** The data of an actor that a filter can test. */
export interface FilteredActor {
  readonly node: Pick<
    ActorNode,
    'machine' | 'kind' | 'name' | 'state' | 'tags' | 'since' | 'waitingFor' | 'lastFailure'
  >;
  /** Namespace and name of the actor's pod. Undefined for actors of the node. */
  readonly namespace?: string | undefined;
  readonly podName?: string | undefined;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
}

export type ActorFilter = (actor: FilteredActor) => boolean;

/** A parsed filter, or one sentence that describes the syntax error. */
export type ReadFilter = { readonly matches: ActorFilter } | { readonly problem: string };

/** Filters by field name. Each one receives the value after the colon in lower case. */
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

/** Returns the machine and the role, so that `kind:container` also matches init containers and sidecars. */
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

/** Filters by the time that an actor has been in its state. For a waiting actor this is the duration of the wait. */
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

/** Matches actors whose name, state, wait or failure contains the text. */
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
 * Parses a filter, which is a list of case-insensitive words that must all match. A word that starts with one of `KEYS`
 * tests that field. Any other word matches actors whose name, state or failure contains it. An empty filter matches
 * every actor.
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
