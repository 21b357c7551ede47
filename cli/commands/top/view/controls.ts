/** Changes the settings of `top` according to the keys that the user presses. */

import { lookUp } from '../../../../base/lookUp.ts';
import { type ActorFilter, parseFilter } from '../../../../show/actors/actorFilter.ts';
import { type ActorRow, ROW_ORDERS, type RowOrder } from '../../../../show/actors/treeRows.ts';
import { editText, type Key, scrollDistance } from '../../../terminal/table/controls.ts';

/** Upper bound for scroll offsets. The help and the story are shorter. */
const MAX_LINES = 5_000;

export interface TopControls {
  readonly page: 'tree' | 'help';
  /** Path of the selected actor, which stays selected when its row moves. */
  readonly selected: string;
  /** Screen line of the selected row, which stays the same when rows above it change. */
  readonly line: number;
  /** Paths of the expanded actors. */
  readonly open: ReadonlySet<string>;
  readonly order: RowOrder;
  readonly reversed: boolean;
  readonly filter: string;
  /** The filter being typed. Undefined while keys are commands. */
  readonly typing?: string;
  /** Whether the explanation, log and story of the selected actor are shown. */
  readonly showsDetail: boolean;
  /** Scroll offset of the help from its start, or of the story from its end, in lines. */
  readonly offset: number;
  readonly isQuitting: boolean;
}

/** Returns the initial controls: all actors are collapsed, and the worst pod is first. */
export const initialControls = (filter: string): TopControls => ({
  page: 'tree',
  selected: '',
  line: 0,
  open: new Set<string>(),
  order: 'worst',
  reversed: false,
  filter,
  showsDetail: false,
  offset: 0,
  isQuitting: false,
});

/** The last drawn tree. */
export interface DrawnTree {
  readonly rows: readonly ActorRow[];
  /** Number of visible rows. */
  readonly room: number;
  /** Index of the first visible row. */
  readonly from: number;
}

/** Returns the text of the filter to apply, which may still be being typed. */
export const filterText = ({ filter, typing }: TopControls): string => typing ?? filter;

/** Parses the filter. With an invalid filter, all actors are shown beside the problem. */
export function parsedFilter(controls: TopControls): { readonly matches?: ActorFilter; readonly problem?: string } {
  const text = filterText(controls);
  return text.trim() === '' ? {} : parseFilter(text);
}

/**
 * Returns the row of the selected actor. If it is hidden, falls back to a visible ancestor or to the row on its screen
 * line.
 */
export function selectedIndex({ rows, from }: DrawnTree, { selected, line }: TopControls): number {
  const index = rows.findIndex(({ path }) => path === selected);
  if (index >= 0) return index;
  const above = rows.findLastIndex(({ path }) => selected.startsWith(`${path}/`));
  return above >= 0 ? above : Math.max(0, Math.min(from + line, rows.length - 1));
}

function moveTo(controls: TopControls, tree: DrawnTree, targetIndex: number): TopControls {
  const from = selectedIndex(tree, controls);
  const index = Math.max(0, Math.min(targetIndex, tree.rows.length - 1));
  const line = Math.max(0, Math.min(controls.line + index - from, tree.room - 1));
  return { ...controls, selected: tree.rows[index]?.path ?? '', line, offset: 0 };
}

function withOpen(controls: TopControls, path: string, isOpen: boolean): TopControls {
  const open = new Set(controls.open);
  if (isOpen) open.add(path);
  else open.delete(path);
  return { ...controls, open };
}

/** Collapses the selected actor or, if it is collapsed, selects its parent. */
function collapse(controls: TopControls, tree: DrawnTree): TopControls {
  const index = selectedIndex(tree, controls);
  const row = tree.rows[index];
  if (row === undefined) return controls;
  if (controls.open.has(row.path)) return withOpen(controls, row.path, false);
  const above = tree.rows.findLastIndex(({ depth }, each) => each < index && depth < row.depth);
  return above < 0 ? controls : moveTo(controls, tree, above);
}

/** Expands the selected actor or, if it is expanded, selects its first child. */
function expand(controls: TopControls, tree: DrawnTree): TopControls {
  const index = selectedIndex(tree, controls);
  const row = tree.rows[index];
  if (row?.isOpen === undefined) return controls;
  return row.isOpen ? moveTo(controls, tree, index + 1) : withOpen(controls, row.path, true);
}

const nextCyclic = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length] ?? one;

type Command = (controls: TopControls, tree: DrawnTree) => TopControls;

/** Closes the help, else the detail, else clears the filter. */
const goBack: Command = (controls) => {
  if (controls.page === 'help') return { ...controls, page: 'tree', offset: 0 };
  if (controls.showsDetail) return { ...controls, showsDetail: false, offset: 0 };
  return { ...controls, filter: '' };
};

const toggleHelp: Command = (controls) => ({
  ...controls,
  page: controls.page === 'help' ? 'tree' : 'help',
  offset: 0,
});

const COMMANDS: Readonly<Record<string, Command>> = {
  left: collapse,
  h: collapse,
  right: expand,
  l: expand,
  return: (controls) => ({ ...controls, showsDetail: !controls.showsDetail, offset: 0 }),
  o: (controls, { rows }) => ({ ...controls, open: new Set([...controls.open, ...rows.map(({ path }) => path)]) }),
  c: (controls) => ({ ...controls, open: new Set() }),
  s: (controls) => ({ ...controls, order: nextCyclic(ROW_ORDERS, controls.order), reversed: false }),
  R: (controls) => ({ ...controls, reversed: !controls.reversed }),
  '/': (controls) => ({ ...controls, page: 'tree', typing: controls.filter }),
  '?': toggleHelp,
  escape: goBack,
  q: (controls) => ({ ...controls, isQuitting: true }),
  // The bracket keys scroll the story, because the arrow and page keys move in the tree.
  '[': (controls) => ({ ...controls, offset: Math.min(MAX_LINES, controls.offset + 1) }),
  ']': (controls) => ({ ...controls, offset: Math.max(0, controls.offset - 1) }),
};

function typeFilter({ typing = '', ...controls }: TopControls, key: Key): TopControls {
  const text = editText(typing, key);
  if (text === undefined) return { ...controls, filter: '' };
  return key.name === 'return' ? { ...controls, filter: text } : { ...controls, typing: text };
}

/** Returns the controls after a key. `tree` is the last drawn tree. */
export function topControlsAfterKey(before: TopControls, key: Key, tree: DrawnTree): TopControls {
  if (before.typing !== undefined) return typeFilter(before, key);
  // Select the row that is drawn as selected, so that the selection does not jump when a hidden actor reappears.
  const controls = { ...before, selected: tree.rows[selectedIndex(tree, before)]?.path ?? before.selected };
  const scroll = key.name === 'return' ? undefined : scrollDistance(key, tree.room);
  if (scroll !== undefined && controls.page === 'help') {
    return { ...controls, offset: Math.max(0, Math.min(controls.offset + scroll, MAX_LINES)) };
  }
  if (scroll !== undefined) return moveTo(controls, tree, selectedIndex(tree, controls) + scroll);
  const command = lookUp(COMMANDS, key.name);
  return command ? command(controls, tree) : controls;
}
