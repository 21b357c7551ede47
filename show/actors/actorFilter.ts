/** Parses filter expressions for actors, used by the page, `get actors` and `top`, e.g. `web is:retrying waits>30s`. */

import { closestWord } from '../../base/text/closestWord.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { parseDuration } from '../../kubernetes/api/values/parseDuration.ts';
import { CATEGORIES, categoryOf, isHealthy } from '../category.ts';
import { kindText } from '../explain/explainText.ts';
import type { ActorNode } from './actorNode.ts';

/** The data of an actor that a filter can test. */
export interface FilteredActor {
  readonly node: Pick<
    ActorNode,
    'machine' | 'kind' | 'name' | 'state' | 'tags' | 'since' | 'waitingFor' | 'lastFailure'
  >;
  /** Namespace of the actor's pod. Undefined for actors of the node. */
  readonly namespace?: string | undefined;
  /** Name of the actor's pod. Undefined for actors of the node. */
  readonly podName?: string | undefined;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
}

export type ActorFilter = (actor: FilteredActor) => boolean;

/** A parsed filter, or one sentence that describes the syntax error. */
export type ParsedFilter = { readonly matches: ActorFilter } | { readonly problem: string };

/** Filter parsers by field name. Each parser receives the lower-case value after the colon. */
const FIELD_PARSERS: Readonly<Record<string, (value: string) => ParsedFilter>> = {
  state: (value) => ({
    matches: ({ node }) => `.${toLowerCase(node.state).replaceAll(' ', '.')}`.includes(`.${value}`),
  }),
  ns: (value) => ({ matches: ({ namespace }) => toLowerCase(namespace) === value }),
  kind: (value) => ({ matches: ({ node }) => lowerCaseKinds(node).includes(value) }),
  is: parseCategoryFilter,
};

const DURATION_FILTERS: Readonly<Record<string, (node: FilteredActor['node']) => boolean>> = {
  waits: ({ waitingFor }) => waitingFor !== undefined,
  changed: () => true,
};

const FILTER_PREFIXES = ['state:', 'ns:', 'kind:', 'is:', 'waits>', 'waits<', 'changed<', 'changed>'];

const toLowerCase = (text = ''): string => text.toLowerCase();

/**
 * Returns the names of the machine and of the role in lower case, so that `kind:container` also matches init containers
 * and sidecars.
 */
const lowerCaseKinds = ({ machine, kind }: FilteredActor['node']): string[] =>
  [machine, kind, kindText(kind)].map(toLowerCase);

function parseCategoryFilter(value: string): ParsedFilter {
  const category = CATEGORIES.find((each) => each === value);
  if (category) return { matches: ({ node }) => categoryOf(node) === category };
  return { problem: `is:${value}: expected one of ${CATEGORIES.join(', ')}${suggestion(value, CATEGORIES)}` };
}

const suggestion = (word: string, candidates: readonly string[]): string => {
  const match = closestWord(word, candidates);
  return match === undefined ? '' : `; did you mean ${match}?`;
};

/**
 * Parses a filter on the time that an actor has spent in its state. For a waiting actor, this is the duration of the
 * wait.
 */
function parseDurationFilter(word: string, [key, sign, duration]: readonly [string, string, string]): ParsedFilter {
  const appliesTo = lookUp(DURATION_FILTERS, key);
  if (appliesTo === undefined) return { problem: unknownKeyProblem(word, `${key}${sign}`) };
  const ms = parseDuration(duration);
  if (ms === undefined) return { problem: `${word}: expected a duration such as 30s or 1m30s after ${key}${sign}` };
  const isInRange = (span: number) => (sign === '>' ? span > ms : span < ms);
  return { matches: ({ node, now }) => appliesTo(node) && isInRange(now - node.since) };
}

const unknownKeyProblem = (word: string, key: string): string =>
  `${word}: unknown filter ${key}${suggestion(key, FILTER_PREFIXES) || `; there are ${FILTER_PREFIXES.join(' ')}`}`;

/** Creates a filter for actors whose name, state, awaited condition or failure contains the text. */
const createTextFilter =
  (text: string): ActorFilter =>
  ({ node, namespace, podName }) => {
    const { kind, name, state, waitingFor, lastFailure } = node;
    const podFullName = podName === undefined ? '' : `${namespace}/${podName}`;
    const failure = isHealthy(categoryOf(node)) ? undefined : lastFailure;
    const descriptions = [waitingFor, failure?.reason, failure?.message];
    return [podFullName, kind, name, state, ...descriptions].some((each) => toLowerCase(each).includes(text));
  };

function parseWord(word: string): ParsedFilter {
  const [, key, colon = '', value = ''] = /^([a-z]+)(:)(.*)$/.exec(word) ?? [];
  if (key !== undefined) {
    const parseField = lookUp(FIELD_PARSERS, key);
    if (parseField === undefined) return { problem: unknownKeyProblem(word, `${key}${colon}`) };
    return value === '' ? { problem: `${word}: expected a value after ${word}` } : parseField(value);
  }
  const [, durationKey, sign = '', duration = ''] = /^([a-z]+)([<>])(.*)$/.exec(word) ?? [];
  return durationKey === undefined
    ? { matches: createTextFilter(word) }
    : parseDurationFilter(word, [durationKey, sign, duration]);
}

/**
 * Parses a filter, which is a list of case-insensitive words that must all match. A word that starts with a field's
 * name tests that field. Any other word matches actors whose name, state or failure contains it. An empty filter
 * matches every actor.
 */
export function parseFilter(text: string): ParsedFilter {
  const words = toLowerCase(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  const filters: ActorFilter[] = [];
  for (const word of words) {
    const parsedWord = parseWord(word);
    if ('problem' in parsedWord) return parsedWord;
    filters.push(parsedWord.matches);
  }
  return { matches: (actor) => filters.every((each) => each(actor)) };
}
