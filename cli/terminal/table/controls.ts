/** What is set by keys in the live table, and what each key does. */

import { lookUp } from '../../../base/lookUp.ts';

/** The orders of the pods; the first is the default. */
const SORTS = ['worst', 'name', 'age', 'restarts'] as const;
/** How much is shown of each pod: as much as fits, all its actors, those with problems, or itself alone. */
const DETAILS = ['auto', 'everything', 'problems', 'pods'] as const;

export type Sort = (typeof SORTS)[number];
type Detail = (typeof DETAILS)[number];

/** What the user has chosen to see. */
export interface Controls {
  readonly page: 'table' | 'log' | 'help';
  readonly sort: Sort;
  readonly reversed: boolean;
  readonly detail: Detail;
  /** Pods are shown that have this in a name, a status or a reason; empty for all. */
  readonly filter: string;
  /** The filter as it is being typed; undefined while keys are commands. */
  readonly typing?: string;
  /** How many lines of the page are scrolled past at its top; infinite for its end, wherever that comes to be. */
  readonly offset: number;
  /** A sentence in place of the line of keys, until the next key. */
  readonly hint?: string;
}

export const INITIAL_CONTROLS: Controls = {
  page: 'table',
  sort: 'worst',
  reversed: false,
  detail: 'auto',
  filter: '',
  offset: 0,
};

/** A key: a name (`up`, `pagedown`, `escape`, …) or the character that it writes. */
export interface Key {
  readonly name: string;
  /** What it adds to a text; absent for a key that adds nothing. */
  readonly text?: string;
}

/** How much of a page is seen, and how long it is. */
export interface Extent {
  readonly room: number;
  readonly total: number;
}

const NOT_QUIT = 'press Ctrl-C to stop the node and its pods';

/** How far each key scrolls, in lines, of a page of so many. */
const SCROLLS: Readonly<Record<string, (room: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  return: () => 1,
  pageup: (room) => -room,
  b: (room) => -room,
  'ctrl-b': (room) => -room,
  pagedown: (room) => room,
  space: (room) => room,
  f: (room) => room,
  'ctrl-f': (room) => room,
  home: () => Number.NEGATIVE_INFINITY,
  g: () => Number.NEGATIVE_INFINITY,
  end: () => Number.POSITIVE_INFINITY,
  G: () => Number.POSITIVE_INFINITY,
};

/** How far a key scrolls, in lines, of a page of so many; undefined for a key that does not. */
export const scrollOf = ({ name }: Key, room: number): number | undefined => lookUp(SCROLLS, name)?.(Math.max(1, room));

const last = ({ room, total }: Extent): number => Math.max(0, total - room);

/** The offset as it is on a page that may have become shorter. */
export const clamped = (offset: number, extent: Extent): number => Math.max(0, Math.min(offset, last(extent)));

function scrolled(controls: Controls, by: number, extent: Extent): Controls {
  const offset = clamped(clamped(controls.offset, extent) + by, extent);
  // Who is at the end of the log stays there when it grows.
  const follows = controls.page === 'log' && offset >= last(extent);
  return { ...controls, offset: follows ? Number.POSITIVE_INFINITY : offset };
}

const after = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length] ?? one;

function turned(controls: Controls, page: Controls['page']): Controls {
  const next = controls.page === page ? 'table' : page;
  return { ...controls, page: next, offset: next === 'log' ? Number.POSITIVE_INFINITY : 0 };
}

const COMMANDS: Readonly<Record<string, (controls: Controls) => Controls>> = {
  s: (controls) => ({ ...controls, sort: after(SORTS, controls.sort), reversed: false, offset: 0 }),
  R: (controls) => ({ ...controls, reversed: !controls.reversed, offset: 0 }),
  d: (controls) => ({ ...controls, detail: after(DETAILS, controls.detail), offset: 0 }),
  l: (controls) => turned(controls, 'log'),
  '?': (controls) => turned(controls, 'help'),
  h: (controls) => turned(controls, 'help'),
  '/': (controls) => ({ ...controls, page: 'table', offset: 0, typing: controls.filter }),
  escape: (controls) => ({
    ...controls,
    page: 'table',
    filter: controls.page === 'table' ? '' : controls.filter,
    offset: 0,
  }),
  q: (controls) => (controls.page === 'table' ? { ...controls, hint: NOT_QUIT } : turned(controls, controls.page)),
};

/** A text that is typed after one more key; undefined where the key gives it up. */
export function typedText(text: string, { name, text: more = '' }: Key): string | undefined {
  if (name === 'escape' || (name === 'backspace' && text === '')) return undefined;
  if (name === 'backspace') return [...text].slice(0, -1).join('');
  if (name === 'ctrl-u') return '';
  return name === 'return' ? text : text + more;
}

function typed({ typing = '', ...controls }: Controls, key: Key): Controls {
  if (key.name === 'backspace' && typing === '') return controls;
  const text = typedText(typing, key);
  if (text === undefined) return { ...controls, filter: '' };
  return key.name === 'return' ? { ...controls, filter: text } : { ...controls, typing: text };
}

/** What is chosen after a key; `extent` is that of the page as it was last drawn. */
export function pressed({ hint: _, ...controls }: Controls, key: Key, extent: Extent): Controls {
  if (controls.typing !== undefined) return { ...typed(controls, key), offset: 0 };
  const scroll = scrollOf(key, extent.room);
  if (scroll !== undefined) return scrolled(controls, scroll, extent);
  const command = lookUp(COMMANDS, key.name);
  return command ? command(controls) : controls;
}

/** The filter that counts: while it is typed, what there is of it. */
export const filterOf = ({ filter, typing }: Controls): string => typing ?? filter;
