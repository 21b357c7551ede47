/** Changes the settings of the live table according to the keys that the user presses. */

import { lookUp } from '../../../base/values/lookUp.ts';

/** The sort orders of the pods. The first one is the default. */
const SORT_ORDERS = ['worst', 'name', 'age', 'restarts'] as const;
/** Rows per pod: as many as fit, all actors, actors with problems, or only the pod. */
const DETAIL_LEVELS = ['auto', 'everything', 'problems', 'pods'] as const;

export type SortOrder = (typeof SORT_ORDERS)[number];
type DetailLevel = (typeof DETAIL_LEVELS)[number];

export interface Controls {
  readonly page: 'table' | 'log' | 'help';
  readonly sortOrder: SortOrder;
  readonly isReversed: boolean;
  readonly detailLevel: DetailLevel;
  /** Only pods with this text in a name, status or reason are shown. Empty to show all pods. */
  readonly filter: string;
  /** The filter being typed. Undefined while keys are interpreted as commands. */
  readonly draftFilter?: string;
  /** Number of lines above the visible ones. Infinity to stay at the end. */
  readonly offset: number;
  /** A sentence that replaces the line of key hints until the next key press. */
  readonly hint?: string;
}

export const INITIAL_CONTROLS: Controls = {
  page: 'table',
  sortOrder: 'worst',
  isReversed: false,
  detailLevel: 'auto',
  filter: '',
  offset: 0,
};

/** A key, identified by its name (`up`, `pagedown`, `escape`, …) or by its character. */
export interface Key {
  readonly name: string;
  /** The text that the key produces. Undefined for control keys. */
  readonly text?: string;
}

/** The visible and the total number of lines of a page. */
export interface Extent {
  readonly visibleLines: number;
  readonly totalLines: number;
}

const QUIT_HINT = 'press Ctrl-C to stop the node and its pods';

/** Number of lines that each key scrolls, given the number of visible lines. */
const SCROLL_KEYS: Readonly<Record<string, (room: number) => number>> = {
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

/** Returns the number of lines that a key scrolls, or undefined if the key does not scroll. */
export const scrollDistance = ({ name }: Key, visibleLines: number): number | undefined =>
  lookUp(SCROLL_KEYS, name)?.(Math.max(1, visibleLines));

const maxOffset = ({ visibleLines, totalLines }: Extent): number => Math.max(0, totalLines - visibleLines);

/** Limits an offset to the page, which may have become shorter. */
export const clampOffset = (offset: number, extent: Extent): number => Math.max(0, Math.min(offset, maxOffset(extent)));

function scroll(controls: Controls, distance: number, extent: Extent): Controls {
  const offset = clampOffset(clampOffset(controls.offset, extent) + distance, extent);
  // At the end of the log, keep showing the newest lines.
  const followsLog = controls.page === 'log' && offset >= maxOffset(extent);
  return { ...controls, offset: followsLog ? Number.POSITIVE_INFINITY : offset };
}

const nextCyclic = <T>(values: readonly T[], current: T): T =>
  values[(values.indexOf(current) + 1) % values.length] ?? current;

function togglePage(controls: Controls, page: Controls['page']): Controls {
  const nextPage = controls.page === page ? 'table' : page;
  return { ...controls, page: nextPage, offset: nextPage === 'log' ? Number.POSITIVE_INFINITY : 0 };
}

const COMMANDS: Readonly<Record<string, (controls: Controls) => Controls>> = {
  s: (controls) => ({
    ...controls,
    sortOrder: nextCyclic(SORT_ORDERS, controls.sortOrder),
    isReversed: false,
    offset: 0,
  }),
  R: (controls) => ({ ...controls, isReversed: !controls.isReversed, offset: 0 }),
  d: (controls) => ({ ...controls, detailLevel: nextCyclic(DETAIL_LEVELS, controls.detailLevel), offset: 0 }),
  l: (controls) => togglePage(controls, 'log'),
  '?': (controls) => togglePage(controls, 'help'),
  h: (controls) => togglePage(controls, 'help'),
  '/': (controls) => ({ ...controls, page: 'table', offset: 0, draftFilter: controls.filter }),
  escape: (controls) => ({
    ...controls,
    page: 'table',
    filter: controls.page === 'table' ? '' : controls.filter,
    offset: 0,
  }),
  q: (controls) => (controls.page === 'table' ? { ...controls, hint: QUIT_HINT } : togglePage(controls, controls.page)),
};

/** Returns the typed text after a key press, or undefined if the key cancels the input. */
export function editText(text: string, { name, text: addedText = '' }: Key): string | undefined {
  if (name === 'escape' || (name === 'backspace' && text === '')) return undefined;
  if (name === 'backspace') return [...text].slice(0, -1).join('');
  if (name === 'ctrl-u') return '';
  return name === 'return' ? text : text + addedText;
}

function typeFilter({ draftFilter = '', ...controls }: Controls, key: Key): Controls {
  if (key.name === 'backspace' && draftFilter === '') return controls;
  const editedText = editText(draftFilter, key);
  if (editedText === undefined) return { ...controls, filter: '' };
  return key.name === 'return' ? { ...controls, filter: editedText } : { ...controls, draftFilter: editedText };
}

/** Returns the controls after a key press. `extent` is the extent of the last drawn page. */
export function controlsAfterKey({ hint: _, ...controls }: Controls, key: Key, extent: Extent): Controls {
  if (controls.draftFilter !== undefined) return { ...typeFilter(controls, key), offset: 0 };
  const distance = scrollDistance(key, extent.visibleLines);
  if (distance !== undefined) return scroll(controls, distance, extent);
  const command = lookUp(COMMANDS, key.name);
  return command ? command(controls) : controls;
}

/** Returns the filter to apply. A filter already applies while it is being typed. */
export const effectiveFilter = ({ filter, draftFilter }: Controls): string => draftFilter ?? filter;
