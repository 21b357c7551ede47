/** What is set by keys in `top`, and what each key does. */

import { lookUp } from '../../../../base/lookUp.ts';
import { type ActorFilter, parseFilter } from '../../../../show/actors/actorFilter.ts';
import { type ActorRow, ROW_ORDERS, type RowOrder } from '../../../../show/actors/treeRows.ts';
import { type Key, scrollOf, typedText } from '../../../terminal/table/controls.ts';

/** No help and no story is longer. */
const MOST_LINES = 5_000;

/** What the user has chosen to see. */
export interface TopControls {
  readonly page: 'tree' | 'help';
  /** The path of the actor that the keys act on; it stays the same wherever its row comes to be. */
  readonly selected: string;
  /** How many rows of the tree stand above it on the screen: it does not move under the hand. */
  readonly line: number;
  /** The paths of the actors that those below them are shown of. */
  readonly open: ReadonlySet<string>;
  readonly order: RowOrder;
  readonly reversed: boolean;
  readonly filter: string;
  /** The filter as it is being typed; undefined while keys are commands. */
  readonly typing?: string;
  /** Whether the story of the actor and the end of its log are shown. */
  readonly tells: boolean;
  /** How many lines of the help, or of the latest of the story, are scrolled past. */
  readonly offset: number;
  readonly quits: boolean;
}

/** How `top` begins: all is closed, and the worst pod stands below the node. */
export const firstControls = (filter: string): TopControls => ({
  page: 'tree',
  selected: '',
  line: 0,
  open: new Set<string>(),
  order: 'worst',
  reversed: false,
  filter,
  tells: false,
  offset: 0,
  quits: false,
});

/** The tree as it was last drawn. */
export interface DrawnTree {
  readonly rows: readonly ActorRow[];
  /** How many rows are seen at once. */
  readonly room: number;
  /** How many are scrolled past. */
  readonly from: number;
}

/** The text of the filter that counts: while it is typed, what there is of it. */
export const filterText = ({ filter, typing }: TopControls): string => typing ?? filter;

/** What the filter lets through, or what is wrong with it: then all is shown. */
export function filterOf(controls: TopControls): { readonly matches?: ActorFilter; readonly problem?: string } {
  const text = filterText(controls);
  return text.trim() === '' ? {} : parseFilter(text);
}

/** Where the selected actor stands: in its place the one above it where that is closed, or else what stands there now. */
export function selectedIndex({ rows, from }: DrawnTree, { selected, line }: TopControls): number {
  const index = rows.findIndex(({ path }) => path === selected);
  if (index >= 0) return index;
  const above = rows.findLastIndex(({ path }) => selected.startsWith(`${path}/`));
  return above >= 0 ? above : Math.max(0, Math.min(from + line, rows.length - 1));
}

function moved(controls: TopControls, tree: DrawnTree, to: number): TopControls {
  const from = selectedIndex(tree, controls);
  const index = Math.max(0, Math.min(to, tree.rows.length - 1));
  const line = Math.max(0, Math.min(controls.line + index - from, tree.room - 1));
  return { ...controls, selected: tree.rows[index]?.path ?? '', line, offset: 0 };
}

function withOpen(controls: TopControls, path: string, isOpen: boolean): TopControls {
  const open = new Set(controls.open);
  if (isOpen) open.add(path);
  else open.delete(path);
  return { ...controls, open };
}

/** Closes the actor or, closed, goes to the one above it. */
function closed(controls: TopControls, tree: DrawnTree): TopControls {
  const index = selectedIndex(tree, controls);
  const row = tree.rows[index];
  if (row === undefined) return controls;
  if (controls.open.has(row.path)) return withOpen(controls, row.path, false);
  const above = tree.rows.findLastIndex(({ depth }, each) => each < index && depth < row.depth);
  return above < 0 ? controls : moved(controls, tree, above);
}

/** Opens the actor or, open, goes to the first below it. */
function opened(controls: TopControls, tree: DrawnTree): TopControls {
  const index = selectedIndex(tree, controls);
  const row = tree.rows[index];
  if (row?.isOpen === undefined) return controls;
  return row.isOpen ? moved(controls, tree, index + 1) : withOpen(controls, row.path, true);
}

const after = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length] ?? one;

type Command = (controls: TopControls, tree: DrawnTree) => TopControls;

/** From the innermost of what was chosen outwards. */
const back: Command = (controls) => {
  if (controls.page === 'help') return { ...controls, page: 'tree', offset: 0 };
  if (controls.tells) return { ...controls, tells: false, offset: 0 };
  return { ...controls, filter: '' };
};

const help: Command = (controls) => ({ ...controls, page: controls.page === 'help' ? 'tree' : 'help', offset: 0 });

const COMMANDS: Readonly<Record<string, Command>> = {
  left: closed,
  h: closed,
  right: opened,
  l: opened,
  return: (controls) => ({ ...controls, tells: !controls.tells, offset: 0 }),
  o: (controls, { rows }) => ({ ...controls, open: new Set([...controls.open, ...rows.map(({ path }) => path)]) }),
  c: (controls) => ({ ...controls, open: new Set() }),
  s: (controls) => ({ ...controls, order: after(ROW_ORDERS, controls.order), reversed: false }),
  R: (controls) => ({ ...controls, reversed: !controls.reversed }),
  '/': (controls) => ({ ...controls, page: 'tree', typing: controls.filter }),
  '?': help,
  escape: back,
  q: (controls) => ({ ...controls, quits: true }),
  // Of the story: the keys above move in the tree.
  '[': (controls) => ({ ...controls, offset: Math.min(MOST_LINES, controls.offset + 1) }),
  ']': (controls) => ({ ...controls, offset: Math.max(0, controls.offset - 1) }),
};

function typed({ typing = '', ...controls }: TopControls, key: Key): TopControls {
  const text = typedText(typing, key);
  if (text === undefined) return { ...controls, filter: '' };
  return key.name === 'return' ? { ...controls, filter: text } : { ...controls, typing: text };
}

/** What is chosen after a key; `tree` is that of the last drawing. */
export function pressedInTop(before: TopControls, key: Key, tree: DrawnTree): TopControls {
  if (before.typing !== undefined) return typed(before, key);
  // What is seen to be selected is: it does not change with what comes back later.
  const controls = { ...before, selected: tree.rows[selectedIndex(tree, before)]?.path ?? before.selected };
  const scroll = key.name === 'return' ? undefined : scrollOf(key, tree.room);
  if (scroll !== undefined && controls.page === 'help') {
    return { ...controls, offset: Math.max(0, Math.min(controls.offset + scroll, MOST_LINES)) };
  }
  if (scroll !== undefined) return moved(controls, tree, selectedIndex(tree, controls) + scroll);
  const command = lookUp(COMMANDS, key.name);
  return command ? command(controls, tree) : controls;
}
