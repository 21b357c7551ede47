/** Derives the content of a drawing from a machine or region: nested boxes, and the transitions between them. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { hasNoBox, isInside, mainPathOf, regionOf } from '../../machines/drawing/regions.ts';
import {
  childrenOf,
  describeTransitions,
  dottedPath,
  type NamedTransition,
  nodesOf,
} from '../../machines/drawing/ways.ts';
import type { Region } from '../../machines/shared/stateMeta.ts';

/**
 * A box, which is a state, a compound state with the boxes inside it, or several states that are folded into one row.
 */
export interface Item {
  /** The path of the state, or `<parent>.*` for folded states. */
  readonly id: string;
  readonly label: string;
  readonly node?: AnyStateNode;
  readonly children: readonly Item[];
  readonly foldedStates?: readonly string[];
}

/** All transitions between the same two boxes. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly NamedTransition[];
}

export interface Content {
  readonly items: readonly Item[];
  readonly arrows: readonly Arrow[];
  /** Transitions that leave the drawing, and those that apply in every state. */
  readonly exits: readonly NamedTransition[];
}

/** The part of a machine that is drawn. */
interface Scope {
  readonly isRegion: boolean;
  readonly contains: (state: string) => boolean;
  readonly mainPath: readonly string[] | undefined;
}

/** Returns the content of a region or, if `region` is undefined, of the whole machine. */
export function createContent(machine: AnyStateMachine, region?: Region): Content {
  const scope: Scope = {
    isRegion: region !== undefined,
    contains: (state) => region === undefined || regionOf(machine, state) === region,
    mainPath: region && mainPathOf(machine, region),
  };
  const items = withUniqueLabels(childrenOf(machine.root).flatMap((node) => createItems(node, scope)));
  const boxOfState = mapStatesToBoxes(items);
  const arrows = new Map<string, Arrow>();
  const exits: NamedTransition[] = [];
  for (const way of describeTransitions(machine)) {
    if (way.to === undefined || (way.from !== '' && !hasBoxInside(way.from, boxOfState))) continue;
    const boxPairs = way.from === '' ? [] : boxPairsOf(machine, way.from, way.to, boxOfState);
    if (boxPairs.length === 0) exits.push(way);
    for (const [from, to] of boxPairs) {
      const existingArrow = arrows.get(`${from} ${to}`);
      arrows.set(`${from} ${to}`, { from, to, ways: [...(existingArrow?.ways ?? []), way] });
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
function createItems(node: AnyStateNode, scope: Scope): Item[] {
  if (node.type === 'history') return [];
  const id = dottedPath(node);
  const children = childrenOf(node);
  const { isRegion, contains, mainPath } = scope;
  if (children.length === 0) return contains(id) ? [{ id, label: node.key, node, children: [] }] : [];
  if (!contains(id) || (isRegion && hasNoBox(node))) {
    const childItems = children.flatMap((child) => createItems(child, scope));
    return contains(id) ? childItems : childItems.map((item) => ({ ...item, label: item.id }));
  }
  const childItems = mainPath
    ? mainPathItems(node, mainPath, contains)
    : children.flatMap((child) => createItems(child, scope));
  return [{ id, label: node.key, node, children: childItems }];
}

/** Returns a row for each state on the main path through a compound state, and one row for all its other states. */
function mainPathItems(node: AnyStateNode, mainPath: readonly string[], isInScope: (state: string) => boolean): Item[] {
  const nodes = nodesOf(node).slice(1);
  const nodesById = new Map(nodes.map((each) => [dottedPath(each), each]));
  const rows = mainPath.flatMap((id) => {
    const row = nodesById.get(id);
    return row ? [{ id, label: row.key, node: row, children: [] }] : [];
  });
  const isOnMainPath = (id: string) => mainPath.some((each) => isInside(each, id));
  const foldedStates = [...nodesById.keys()].filter((id) => isInScope(id) && !isOnMainPath(id));
  const atomicStates = foldedStates.filter((id) => nodesById.get(id)?.type !== 'compound');
  if (atomicStates.length === 0) return rows;
  return [...rows, { id: `${dottedPath(node)}.*`, label: `${atomicStates.length} more`, children: [], foldedStates }];
}

/** Returns the ID of the box that represents each state, by the ID of the state. */
function mapStatesToBoxes(items: readonly Item[]): Map<string, string> {
  return new Map(
    items.flatMap(({ id, children, foldedStates }) => [
      ...(foldedStates ? foldedStates.map((state) => [state, id] as const) : [[id, id] as const]),
      ...mapStatesToBoxes(children),
    ]),
  );
}

const hasBoxInside = (state: string, boxOfState: ReadonlyMap<string, string>): boolean =>
  boxOfState.has(state) || [...boxOfState.keys()].some((each) => isInside(each, state));

/**
 * Returns the pairs of boxes that a transition connects, or no pairs if it leaves the drawing. A transition from a
 * state without a box starts at each box inside that state.
 */
function boxPairsOf(machine: AnyStateMachine, from: string, to: string, boxOfState: ReadonlyMap<string, string>) {
  const target = boxOfState.get(to) ?? boxOfState.get(initialStateOf(machine, to));
  if (target === undefined) return [];
  const own = boxOfState.get(from);
  const sourceBoxes =
    own === undefined ? [...boxOfState].filter(([state]) => isInside(state, from)) : [[from, own] as const];
  return [...new Set(sourceBoxes.map(([, box]) => box))].map((box) => [box, target] as const);
}

/** Returns the initial state of a compound state. For a history state, returns its parent. */
function initialStateOf(machine: AnyStateMachine, state: string): string {
  const node = nodesOf(machine.root).find((each) => dottedPath(each) === state);
  if (node?.type === 'history' && node.parent) return dottedPath(node.parent);
  const initialNode = node?.type === 'compound' ? node.initial.target?.[0] : undefined;
  return initialNode ? initialStateOf(machine, dottedPath(initialNode)) : state;
}
