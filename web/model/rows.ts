/** The rows of the tree as the page shows them: which are open, what is looked for, and that nothing moves under the hand. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ShownPod } from '../../inspect/protocol.ts';
import { type ActorFilter, parseFilter } from '../../show/actorFilter.ts';
import type { ActorNode } from '../../show/actorNode.ts';
import { rowText } from '../../show/actorRowText.ts';
import { type Category, categoryOf, isHealthy } from '../../show/category.ts';
import { type ActorRow, type ActorTrees, countTree, treeRows, worstOf } from '../../show/treeRows.ts';
import type { Page } from './page.ts';
import { podOf } from './selection.ts';
import { ROOT, seenTree } from './tree.ts';
import type { World } from './world.ts';

/** A row of the tree, and its place among its siblings for those who hear it. */
export interface TreeRow {
  readonly row: ActorRow;
  /** Its actor is not there any more: it keeps its place as long as the hand is in the list. */
  readonly isGone: boolean;
}

/** The words of a row. */
export interface RowWords {
  readonly name: string;
  /** Before the name: what it is, of one that is no pod. */
  readonly kind: string;
  /** After the name: the namespace, or how many actors it stands for. */
  readonly beside: string;
  readonly what: string;
  readonly time: string;
  /** Of the worst that it tells of. */
  readonly category: Category;
  readonly isWell: boolean;
}

/** So many rows stay of actors that are gone. */
const MOST_GONE = 50;

/** The rows as they stood, with what is said of them now; new pods come last, what is gone stays. */
function standing(before: readonly TreeRow[], fresh: readonly ActorRow[]): TreeRow[] {
  const byPath = new Map(fresh.map((row) => [row.path, row]));
  const isTooMany = before.filter(({ isGone }) => isGone).length > MOST_GONE;
  const kept = before.flatMap(({ row, isGone }) => {
    const now = byPath.get(row.path);
    // A hand may stay for long, as the focus does.
    return now === undefined && isGone && isTooMany ? [] : [{ row: now ?? row, isGone: now === undefined }];
  });
  const known = new Set(before.map(({ row }) => row.path));
  const news = fresh.filter((row) => row.depth === 0 && !known.has(row.path));
  return [...kept, ...news.map(there)];
}

const there = (row: ActorRow): TreeRow => ({ row, isGone: false });

/** The state of the tree of a page. */
export function createTree(page: Page) {
  const open = signal<ReadonlySet<string>>(new Set());
  const hands = signal<ReadonlySet<string>>(new Set());
  const read = computed(() => parseFilter(page.place.value.query ?? ''));
  const seen = computed(() => seenTree(page.world.value));
  const matches = computed<ActorFilter | undefined>(() => {
    const found = read.value;
    return page.place.value.query === undefined || 'problem' in found ? undefined : found.matches;
  });
  const isHeld = computed(() => hands.value.size > 0);
  return {
    open,
    /** What holds the rows: the pointer, the focus. */
    hands,
    isHeld,
    /** Where the keyboard is: the path of a row. */
    cursor: signal<string>(ROOT),
    /** One sentence, where the filter cannot be read. */
    problem: computed(() => ('problem' in read.value ? read.value.problem : undefined)),
    count: computed(() => (seen.value ? countTree(seen.value) : { pods: 0, actors: 0 })),
    rows: rowsAsHeld(page, { open, isHeld, matches, seen }),
  };
}

/** The tree of a page. */
export type Tree = ReturnType<typeof createTree>;

interface Inputs {
  readonly open: ReadonlySignal<ReadonlySet<string>>;
  readonly isHeld: ReadonlySignal<boolean>;
  readonly matches: ReadonlySignal<ActorFilter | undefined>;
  readonly seen: ReadonlySignal<ActorTrees | undefined>;
}

/** What the hand itself has done, a row opened or a filter written, may move rows; what happens on the node may not. */
function rowsAsHeld(page: Page, { open, isHeld, matches, seen }: Inputs) {
  let last: { readonly rows: readonly TreeRow[]; readonly done: readonly unknown[] } | undefined;
  return computed(() => {
    const tree = seen.value;
    const done = [open.value, page.place.value.query, page.past.value];
    const isSame = last?.done.every((each, index) => each === done[index]) ?? false;
    const before = isHeld.value ? (last?.rows ?? []) : [];
    const retainedOrder = before.filter(({ row }) => row.depth === 0).map(({ row }) => row.path);
    const isOpen = (path: string) => open.value.has(path);
    // Ages are those of the page's clock, which goes on while nothing changes on the node.
    const at = matches.value ? page.now.value : (tree?.at ?? 0);
    const fresh = tree ? treeRows({ ...tree, at }, { isOpen, matches: matches.value, retainedOrder }) : [];
    const rows = isHeld.value && isSame ? standing(before, fresh) : fresh.map(there);
    last = { rows, done };
    return rows;
  });
}

/** What a row says. A pod that is not well says so, open or not; one that is well says how many of its containers are ready. */
export function wordsOf({ row }: TreeRow, world: World, now: number): RowWords {
  const { path, actor, depth } = row;
  const pod = depth === 0 ? podOf(world, path) : undefined;
  const subject = pod ? worstOf(actor) : row.subject;
  const category = categoryOf(subject);
  const { detail, time } = rowText(pod && !isHealthy(category) ? { ...row, subject, isOpen: false } : row, now);
  return {
    time,
    category,
    ...namesOf(row, world),
    what: detail === '' && path !== ROOT ? calmOf(actor, pod) : detail,
    isWell: isHealthy(category),
  };
}

/** A pod's row has its namespace in its name, unless it is `default`; here that stands beside it. */
function namesOf({ path, kind, depth, name, pod }: ActorRow, world: World) {
  const isPod = depth === 0 && pod !== undefined;
  return {
    name: path === ROOT ? 'nodeAgent' : isPod ? (name.split('/').at(-1) ?? name) : name,
    kind: depth === 0 ? '' : kind,
    beside: path === ROOT ? `${ownCount(world)} actors` : isPod ? pod.namespace : '',
  };
}

const ownCount = (world: World): number =>
  world.children.get(ROOT)?.filter((each) => podOf(world, each) === undefined).length ?? 0;

/** What is said quietly. */
function calmOf({ state }: Pick<ActorNode, 'state'>, pod: ShownPod | undefined): string {
  if (pod) return pod.status === 'Running' ? pod.ready : pod.status;
  return state.split('.').at(0) ?? '';
}

/** Opens or closes a row; without `isOpen` the other of the two. */
export function fold({ open }: Tree, path: string, isOpen = !open.peek().has(path)): void {
  const next = new Set(open.peek());
  if (isOpen) next.add(path);
  else next.delete(path);
  open.value = next;
}

/** Opens all that is above an actor. */
export function reveal({ open }: Tree, world: World, path: string): void {
  const next = new Set(open.peek());
  for (let above = world.actors.get(path)?.parent; above; above = world.actors.get(above)?.parent) next.add(above);
  open.value = next;
}

/** Puts a hand on the rows, or takes it off. */
export function hold({ hands }: Tree, hand: 'pointer' | 'focus', isOn: boolean): void {
  const next = new Set(hands.peek());
  if (isOn) next.add(hand);
  else next.delete(hand);
  hands.value = next;
}

/** The path of the row so many further than that of the cursor; at an end it stays. */
export function pathBeside(rows: readonly TreeRow[], cursor: string, by: number): string {
  const at = rows.findIndex(({ row }) => row.path === cursor);
  const to = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
  return rows[to]?.row.path ?? cursor;
}

/** The rows that a window of the list shows, with some more at either side, so that scrolling finds them there. */
export function inWindow(
  count: number,
  { top, height, row }: { readonly top: number; readonly height: number; readonly row: number },
) {
  const spare = 6;
  const from = Math.max(0, Math.min(count, Math.floor(top / row)) - spare);
  return { from, to: Math.min(count, Math.ceil((top + height) / row) + spare) };
}

/** The place of each row among its siblings, as `aria-posinset` and `aria-setsize` tell it. */
export function placesOf(rows: readonly TreeRow[]): readonly { readonly at: number; readonly of: number }[] {
  const above: string[] = [];
  const sizes = new Map<string, number>();
  const places = rows.map(({ row }) => {
    above[row.depth] = row.path;
    const family = row.depth === 0 ? ROOT : (above[row.depth - 1] ?? ROOT);
    const at = (sizes.get(`${row.depth} ${family}`) ?? 0) + 1;
    sizes.set(`${row.depth} ${family}`, at);
    return { at, family: `${row.depth} ${family}` };
  });
  return places.map(({ at, family }) => ({ at, of: sizes.get(family) ?? at }));
}
