/**
 * Computes the rows of the tree from the expanded actors and the filter. The order is stable while the user interacts
 * with the list.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ShownPod } from '../../../inspect/protocol.ts';
import { type ActorFilter, parseFilter } from '../../../show/actors/actorFilter.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import { rowCells } from '../../../show/actors/actorRowText.ts';
import { type ActorRow, type ActorTrees, countTree, mostSevereActor, treeRows } from '../../../show/actors/treeRows.ts';
import { type Category, categoryOf, isHealthy } from '../../../show/category.ts';
import { podOf } from '../navigation/selection.ts';
import type { Page } from '../page.ts';
import type { World } from '../server/world.ts';
import { actorTrees, ROOT } from './tree.ts';

export interface TreeRow {
  readonly row: ActorRow;
  /** Whether the actor no longer exists. Its row remains while the pointer or the focus is in the list. */
  readonly isDeleted: boolean;
}

export interface RowTexts {
  readonly name: string;
  /** Kind of the actor, shown before the name. Empty for a pod. */
  readonly kind: string;
  /** Text after the name, e.g. a pod's namespace or the number of the node's actors. */
  readonly suffix: string;
  readonly detail: string;
  readonly time: string;
  /** The most severe category among the actors that the row represents. */
  readonly category: Category;
  readonly isHealthy: boolean;
}

/** Maximum number of rows for actors that no longer exist. */
const MAX_DELETED_ROWS = 50;

/** Updates the rows without moving them. New pods are appended, and rows of actors that no longer exist remain. */
function updateInPlace(previousRows: readonly TreeRow[], currentRows: readonly ActorRow[]): TreeRow[] {
  const rowsByPath = new Map(currentRows.map((row) => [row.path, row]));
  const hasTooManyDeleted = previousRows.filter(({ isDeleted }) => isDeleted).length > MAX_DELETED_ROWS;
  const existingRows = previousRows.flatMap(({ row, isDeleted }) => {
    const currentRow = rowsByPath.get(row.path);
    // Drop rows of actors that no longer exist if there are many, because the pointer or the focus may stay in the list
    // for a long time.
    return currentRow === undefined && isDeleted && hasTooManyDeleted
      ? []
      : [{ row: currentRow ?? row, isDeleted: currentRow === undefined }];
  });
  const previousPaths = new Set(previousRows.map(({ row }) => row.path));
  const newRows = currentRows.filter((row) => row.depth === 0 && !previousPaths.has(row.path));
  return [...existingRows, ...newRows.map(toPresentRow)];
}

const toPresentRow = (row: ActorRow): TreeRow => ({ row, isDeleted: false });

/** Creates the interactive state of the tree, e.g. the expanded rows and the keyboard cursor. */
export function createTree(page: Page) {
  const openPaths = signal<ReadonlySet<string>>(new Set());
  const activeInputs = signal<ReadonlySet<string>>(new Set());
  const parsedFilter = computed(() => parseFilter(page.location.value.query ?? ''));
  const trees = computed(() => actorTrees(page.world.value));
  const matches = computed<ActorFilter | undefined>(() => {
    const filter = parsedFilter.value;
    return page.location.value.query === undefined || 'problem' in filter ? undefined : filter.matches;
  });
  const isInUse = computed(() => activeInputs.value.size > 0);
  return {
    open: openPaths,
    /**
     * The inputs that are active in the list, i.e. the pointer or the keyboard focus. Rows do not move while there is
     * one.
     */
    activeInputs,
    isInUse,
    /** Path of the row at the keyboard cursor. */
    cursor: signal<string>(ROOT),
    /** Describes the syntax error in the filter in one sentence. */
    problem: computed(() => ('problem' in parsedFilter.value ? parsedFilter.value.problem : undefined)),
    count: computed(() => (trees.value ? countTree(trees.value) : { pods: 0, actors: 0 })),
    rows: createRowsSignal(page, { open: openPaths, isInUse, matches, trees }),
  };
}

export type Tree = ReturnType<typeof createTree>;

interface RowInputs {
  readonly open: ReadonlySignal<ReadonlySet<string>>;
  readonly isInUse: ReadonlySignal<boolean>;
  readonly matches: ReadonlySignal<ActorFilter | undefined>;
  readonly trees: ReadonlySignal<ActorTrees | undefined>;
}

/**
 * Computes the rows. While the list is in use, rows move only as a result of the user's own actions, e.g. expanding a
 * row, and not because of changes on the node.
 */
function createRowsSignal(page: Page, { open, isInUse, matches, trees }: RowInputs) {
  let previousResult: { readonly rows: readonly TreeRow[]; readonly inputs: readonly unknown[] } | undefined;
  return computed(() => {
    const tree = trees.value;
    const dependencies = [open.value, page.location.value.query, page.past.value];
    const isUnchanged = previousResult?.inputs.every((each, index) => each === dependencies[index]) ?? false;
    const previousRows = isInUse.value ? (previousResult?.rows ?? []) : [];
    const retainedOrder = previousRows.filter(({ row }) => row.depth === 0).map(({ row }) => row.path);
    const isOpen = (path: string) => open.value.has(path);
    // Use the page's clock if there is a filter, because ages change even if nothing changes on the node.
    const at = matches.value ? page.now.value : (tree?.at ?? 0);
    const currentRows = tree ? treeRows({ ...tree, at }, { isOpen, matches: matches.value, retainedOrder }) : [];
    const rows =
      isInUse.value && isUnchanged ? updateInPlace(previousRows, currentRows) : currentRows.map(toPresentRow);
    previousResult = { rows, inputs: dependencies };
    return rows;
  });
}

/**
 * Returns the text fields of a row. An unhealthy pod shows its problem even if it is expanded, and a healthy pod shows
 * its number of ready containers.
 */
export function rowTexts({ row }: TreeRow, world: World, now: number): RowTexts {
  const { path, actor, depth } = row;
  const pod = depth === 0 ? podOf(world, path) : undefined;
  const subject = pod ? mostSevereActor(actor) : row.subject;
  const category = categoryOf(subject);
  const { detail, time } = rowCells(pod && !isHealthy(category) ? { ...row, subject, isExpanded: false } : row, now);
  return {
    time,
    category,
    ...nameTexts(row, world),
    detail: detail === '' && path !== ROOT ? healthyText(actor, pod) : detail,
    isHealthy: isHealthy(category),
  };
}

/** Returns the name, kind and suffix. A pod's name does not include the namespace, which is the suffix. */
function nameTexts({ path, kind, depth, name, pod }: ActorRow, world: World) {
  const isPod = depth === 0 && pod !== undefined;
  return {
    name: path === ROOT ? 'nodeAgent' : isPod ? (name.split('/').at(-1) ?? name) : name,
    kind: depth === 0 ? '' : kind,
    suffix: path === ROOT ? `${nodeActorCount(world)} actors` : isPod ? pod.namespace : '',
  };
}

const nodeActorCount = (world: World): number =>
  world.children.get(ROOT)?.filter((each) => podOf(world, each) === undefined).length ?? 0;

/** Returns the text of a healthy row, which is displayed unobtrusively. */
function healthyText({ state }: Pick<ActorNode, 'state'>, pod: ShownPod | undefined): string {
  if (pod) return pod.status === 'Running' ? pod.ready : pod.status;
  return state.split('.').at(0) ?? '';
}

/** Expands or collapses a row. If `isOpen` is undefined, the row is toggled. */
export function toggleRow({ open }: Tree, path: string, isOpen = !open.peek().has(path)): void {
  const nextOpenPaths = new Set(open.peek());
  if (isOpen) nextOpenPaths.add(path);
  else nextOpenPaths.delete(path);
  open.value = nextOpenPaths;
}

/** Expands all ancestors of an actor. */
export function expandAncestors({ open }: Tree, world: World, path: string): void {
  const nextOpenPaths = new Set(open.peek());
  for (
    let ancestorPath = world.actors.get(path)?.parent;
    ancestorPath;
    ancestorPath = world.actors.get(ancestorPath)?.parent
  )
    nextOpenPaths.add(ancestorPath);
  open.value = nextOpenPaths;
}

/** Records that the pointer or the focus has entered or left the list. */
export function setInputActive({ activeInputs }: Tree, input: 'pointer' | 'focus', isActive: boolean): void {
  const nextInputs = new Set(activeInputs.peek());
  if (isActive) nextInputs.add(input);
  else nextInputs.delete(input);
  activeInputs.value = nextInputs;
}

/** Returns the path of the row that is `offset` rows below the cursor, clamped to the first and last rows. */
export function pathAtOffset(rows: readonly TreeRow[], cursor: string, offset: number): string {
  const at = rows.findIndex(({ row }) => row.path === cursor);
  const to = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + offset));
  return rows[to]?.row.path ?? cursor;
}

/** Returns the range of rows in the visible part of the list, plus a few rows on both sides for scrolling. */
export function rowsInView(
  count: number,
  { top, height, row }: { readonly top: number; readonly height: number; readonly row: number },
) {
  const overscanRows = 6;
  const from = Math.max(0, Math.min(count, Math.floor(top / row)) - overscanRows);
  return { from, to: Math.min(count, Math.ceil((top + height) / row) + overscanRows) };
}

/** Returns the position of each row among its siblings, for `aria-posinset` and `aria-setsize`. */
export function siblingPositions(rows: readonly TreeRow[]): readonly { readonly at: number; readonly of: number }[] {
  const ancestorPaths: string[] = [];
  const sizesByParent = new Map<string, number>();
  const positions = rows.map(({ row }) => {
    ancestorPaths[row.depth] = row.path;
    const parentPath = row.depth === 0 ? ROOT : (ancestorPaths[row.depth - 1] ?? ROOT);
    const at = (sizesByParent.get(`${row.depth} ${parentPath}`) ?? 0) + 1;
    sizesByParent.set(`${row.depth} ${parentPath}`, at);
    return { at, parentKey: `${row.depth} ${parentPath}` };
  });
  return positions.map(({ at, parentKey }) => ({ at, of: sizesByParent.get(parentKey) ?? at }));
}
