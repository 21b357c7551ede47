/** Derives the content of a drawing from a machine or region: nested boxes, and the transitions between them. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { hasNoBox, isInside, mainPathOf, regionOf } from '../../machines/drawing/regions.ts';
import { childrenOf, dotted, nodesOf, type Way, waysOf } from '../../machines/drawing/ways.ts';
import type { Region } from '../../machines/shared/stateMeta.ts';

/** A box: a state, a compound state with others inside, or several states that are folded into one row. */
export interface Item {
  /** The path of the state, or `<parent>.*` for folded states. */
  readonly id: string;
  readonly label: string;
  readonly node?: AnyStateNode;
  readonly inside: readonly Item[];
  /** The folded states. */
  readonly holds?: readonly string[];
}

/** All transitions between the same two boxes. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly Way[];
}

export interface Content {
  readonly items: readonly Item[];
  readonly arrows: readonly Arrow[];
  /** Transitions that leave the drawing, and those that apply in every state. */
  readonly exits: readonly Way[];
}

/** The part of a machine that is drawn. */
interface Scope {
  readonly isRegion: boolean;
  readonly contains: (state: string) => boolean;
  readonly mainPath: readonly string[] | undefined;
}

/** Returns the content of a region, or of the whole machine without one. */
export function contentOf(machine: AnyStateMachine, region?: Region): Content {
  const scope: Scope = {
    isRegion: region !== undefined,
    contains: (state) => region === undefined || regionOf(machine, state) === region,
    mainPath: region && mainPathOf(machine, region),
  };
  const items = withUniqueLabels(childrenOf(machine.root).flatMap((node) => itemsOf(node, scope)));
  const boxOfState = mapStatesToBoxes(items);
  const arrows = new Map<string, Arrow>();
  const exits: Way[] = [];
  for (const way of waysOf(machine)) {
    if (way.to === undefined || (way.from !== '' && !hasPartIn(way.from, boxOfState))) continue;
    const ends = way.from === '' ? [] : endsOf(machine, way.from, way.to, boxOfState);
    if (ends.length === 0) exits.push(way);
    for (const [from, to] of ends) {
      const existing = arrows.get(`${from} ${to}`);
      arrows.set(`${from} ${to}`, { from, to, ways: [...(existing?.ways ?? []), way] });
    }
  }
  return { items, arrows: [...arrows.values()].filter(({ from, to }) => from !== to), exits };
}

/** Labels a state with its full path if another state in the drawing has the same name. */
function withUniqueLabels(items: readonly Item[]): Item[] {
  const labels = items.map(({ label }) => label);
  const isAmbiguous = (label: string) => labels.filter((each) => each === label).length > 1;
  return items.map((item) => (isAmbiguous(item.label) ? { ...item, label: item.id } : item));
}

/** Returns the boxes of a state in scope. The children of a state without a box have their own boxes. */
function itemsOf(node: AnyStateNode, scope: Scope): Item[] {
  if (node.type === 'history') return [];
  const id = dotted(node);
  const children = childrenOf(node);
  const { isRegion, contains, mainPath } = scope;
  if (children.length === 0) return contains(id) ? [{ id, label: node.key, node, inside: [] }] : [];
  if (!contains(id) || (isRegion && hasNoBox(node))) {
    const free = children.flatMap((child) => itemsOf(child, scope));
    return contains(id) ? free : free.map((item) => ({ ...item, label: item.id }));
  }
  const inside = mainPath
    ? mainPathItems(node, mainPath, contains)
    : children.flatMap((child) => itemsOf(child, scope));
  return [{ id, label: node.key, node, inside }];
}

/** Returns the main path through a compound state, and its other states in one row. */
function mainPathItems(node: AnyStateNode, mainPath: readonly string[], isIn: (state: string) => boolean): Item[] {
  const all = nodesOf(node).slice(1);
  const byId = new Map(all.map((each) => [dotted(each), each]));
  const rows = mainPath.flatMap((id) => {
    const row = byId.get(id);
    return row ? [{ id, label: row.key, node: row, inside: [] }] : [];
  });
  const isShown = (id: string) => mainPath.some((each) => isInside(each, id));
  const holds = [...byId.keys()].filter((id) => isIn(id) && !isShown(id));
  const atoms = holds.filter((id) => byId.get(id)?.type !== 'compound');
  if (atoms.length === 0) return rows;
  return [...rows, { id: `${dotted(node)}.*`, label: `${atoms.length} more`, inside: [], holds }];
}

/** Maps each state to the box that represents it. */
function mapStatesToBoxes(items: readonly Item[]): Map<string, string> {
  return new Map(
    items.flatMap(({ id, inside, holds }) => [
      ...(holds ? holds.map((state) => [state, id] as const) : [[id, id] as const]),
      ...mapStatesToBoxes(inside),
    ]),
  );
}

const hasPartIn = (state: string, shownAs: ReadonlyMap<string, string>): boolean =>
  shownAs.has(state) || [...shownAs.keys()].some((each) => isInside(each, state));

/**
 * Returns the pairs of boxes that a transition connects. Empty if it leaves the drawing. From a state without a box, it
 * starts at each box inside.
 */
function endsOf(machine: AnyStateMachine, from: string, to: string, shownAs: ReadonlyMap<string, string>) {
  const target = shownAs.get(to) ?? shownAs.get(firstInside(machine, to));
  if (target === undefined) return [];
  const own = shownAs.get(from);
  const sources = own === undefined ? [...shownAs].filter(([state]) => isInside(state, from)) : [[from, own] as const];
  return [...new Set(sources.map(([, box]) => box))].map((box) => [box, target] as const);
}

/** Returns the initial state of a compound state. A history state stands for its parent. */
function firstInside(machine: AnyStateMachine, state: string): string {
  const node = nodesOf(machine.root).find((each) => dotted(each) === state);
  if (node?.type === 'history' && node.parent) return dotted(node.parent);
  const first = node?.type === 'compound' ? node.initial.target?.[0] : undefined;
  return first ? firstInside(machine, dotted(first)) : state;
}
