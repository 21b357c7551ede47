/** Changes the settings of `top` according to the keys that the user presses. */

import { lookUp } from '../../../../base/values/lookUp.ts';
import { type ActorFilter, parseFilter } from '../../../../show/actors/actorFilter.ts';
import { type ActorRow, ROW_ORDERS, type RowOrder } from '../../../../show/actors/treeRows.ts';
import { editText, type Key, scrollDistance } from '../../../terminal/table/controls.ts';

/** Upper bound for scroll offsets. It exceeds the number of lines in the help and in the story. */
const MAX_LINES = 5_000;

export interface TopControls {
  readonly page: 'tree' | 'help';
  /** Path of the selected actor, which stays selected when its row moves. */
  readonly selectedPath: string;
  /** Screen line of the selected row, which stays the same when rows above it change. */
  readonly line: number;
  readonly expandedPaths: ReadonlySet<string>;
  readonly sortOrder: RowOrder;
  readonly isReversed: boolean;
  readonly filter: string;
  /** The filter being typed. Undefined while keys are interpreted as commands. */
  readonly draftFilter?: string;
  /** Whether the explanation, log and story of the selected actor are shown. */
  readonly showsDetail: boolean;
  /** Scroll offset in lines: from the start of the help, or from the end of the story. */
  readonly offset: number;
  readonly isQuitting: boolean;
}

/** Returns the initial controls: all actors are collapsed, and the pod with the most severe problem is first. */
export const initialControls = (filter: string): TopControls => ({
  page: 'tree',
  selectedPath: '',
  line: 0,
  expandedPaths: new Set<string>(),
  sortOrder: 'worst',
  isReversed: false,
  filter,
  showsDetail: false,
  offset: 0,
  isQuitting: false,
});

/** The last drawn tree. */
export interface DrawnTree {
  readonly rows: readonly ActorRow[];
  readonly visibleRowCount: number;
  /** Index of the first visible row. */
  readonly from: number;
}

/** Returns the filter to apply. A filter already applies while it is being typed. */
export const filterText = ({ filter, draftFilter }: TopControls): string => draftFilter ?? filter;

/** Parses the filter. If it is invalid, all actors are shown together with the problem. */
export function parseCurrentFilter(controls: TopControls): {
  readonly matches?: ActorFilter;
  readonly problem?: string;
} {
  const currentFilter = filterText(controls);
  return currentFilter.trim() === '' ? {} : parseFilter(currentFilter);
}

/**
 * Returns the row of the selected actor. If it is hidden, falls back to a visible ancestor or to the row on its screen
 * line.
 */
export function selectedIndex({ rows, from }: DrawnTree, { selectedPath, line }: TopControls): number {
  const index = rows.findIndex(({ path }) => path === selectedPath);
  if (index >= 0) return index;
  const ancestorIndex = rows.findLastIndex(({ path }) => selectedPath.startsWith(`${path}/`));
  return ancestorIndex >= 0 ? ancestorIndex : Math.max(0, Math.min(from + line, rows.length - 1));
}

function selectRow(controls: TopControls, tree: DrawnTree, targetIndex: number): TopControls {
  const from = selectedIndex(tree, controls);
  const index = Math.max(0, Math.min(targetIndex, tree.rows.length - 1));
  const line = Math.max(0, Math.min(controls.line + index - from, tree.visibleRowCount - 1));
  return { ...controls, selectedPath: tree.rows[index]?.path ?? '', line, offset: 0 };
}

function withExpanded(controls: TopControls, path: string, isOpen: boolean): TopControls {
  const expandedPaths = new Set(controls.expandedPaths);
  if (isOpen) expandedPaths.add(path);
  else expandedPaths.delete(path);
  return { ...controls, expandedPaths };
}

/** Collapses the selected actor or, if it is collapsed, selects its parent. */
function collapse(controls: TopControls, tree: DrawnTree): TopControls {
  const index = selectedIndex(tree, controls);
  const row = tree.rows[index];
  if (row === undefined) return controls;
  if (controls.expandedPaths.has(row.path)) return withExpanded(controls, row.path, false);
  const parentIndex = tree.rows.findLastIndex(({ depth }, each) => each < index && depth < row.depth);
  return parentIndex < 0 ? controls : selectRow(controls, tree, parentIndex);
}

/** Expands the selected actor or, if it is expanded, selects its first child. */
function expand(controls: TopControls, tree: DrawnTree): TopControls {
  const index = selectedIndex(tree, controls);
  const row = tree.rows[index];
  if (row?.isExpanded === undefined) return controls;
  return row.isExpanded ? selectRow(controls, tree, index + 1) : withExpanded(controls, row.path, true);
}

const nextCyclic = <T>(values: readonly T[], current: T): T =>
  values[(values.indexOf(current) + 1) % values.length] ?? current;

type Command = (controls: TopControls, tree: DrawnTree) => TopControls;

/** Closes the help or, if it is not open, the detail. If neither is open, clears the filter. */
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
  o: (controls, { rows }) => ({
    ...controls,
    expandedPaths: new Set([...controls.expandedPaths, ...rows.map(({ path }) => path)]),
  }),
  c: (controls) => ({ ...controls, expandedPaths: new Set() }),
  s: (controls) => ({ ...controls, sortOrder: nextCyclic(ROW_ORDERS, controls.sortOrder), isReversed: false }),
  R: (controls) => ({ ...controls, isReversed: !controls.isReversed }),
  '/': (controls) => ({ ...controls, page: 'tree', draftFilter: controls.filter }),
  '?': toggleHelp,
  escape: goBack,
  q: (controls) => ({ ...controls, isQuitting: true }),
  // The bracket keys scroll the story, because the arrow and page keys navigate the tree.
  '[': (controls) => ({ ...controls, offset: Math.min(MAX_LINES, controls.offset + 1) }),
  ']': (controls) => ({ ...controls, offset: Math.max(0, controls.offset - 1) }),
};

function typeFilter({ draftFilter = '', ...controls }: TopControls, key: Key): TopControls {
  const editedText = editText(draftFilter, key);
  if (editedText === undefined) return { ...controls, filter: '' };
  return key.name === 'return' ? { ...controls, filter: editedText } : { ...controls, draftFilter: editedText };
}

/** Returns the controls after a key press. `tree` is the last drawn tree. */
export function topControlsAfterKey(previousControls: TopControls, key: Key, tree: DrawnTree): TopControls {
  if (previousControls.draftFilter !== undefined) return typeFilter(previousControls, key);
  // Make the highlighted row the selected one, so that the selection does not jump when a hidden actor reappears.
  const controls = {
    ...previousControls,
    selectedPath: tree.rows[selectedIndex(tree, previousControls)]?.path ?? previousControls.selectedPath,
  };
  const scroll = key.name === 'return' ? undefined : scrollDistance(key, tree.visibleRowCount);
  if (scroll !== undefined && controls.page === 'help') {
    return { ...controls, offset: Math.max(0, Math.min(controls.offset + scroll, MAX_LINES)) };
  }
  if (scroll !== undefined) return selectRow(controls, tree, selectedIndex(tree, controls) + scroll);
  const command = lookUp(COMMANDS, key.name);
  return command ? command(controls, tree) : controls;
}
