/** What a drawing of a machine, or of one of its regions, has in it: boxes in boxes, and the ways between them. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { hasNoBox, isInside, mainPathOf, regionOf } from '../../machines/drawing/regions.ts';
import { childrenOf, dotted, nodesOf, type Way, waysOf } from '../../machines/drawing/ways.ts';
import type { Region } from '../../machines/shared/stateMeta.ts';

/** A box: a state by itself, one with others inside, or those that are folded into one row. */
export interface Item {
  /** The state's path; of folded ones `<the state around them>.*`. */
  readonly id: string;
  readonly label: string;
  readonly node?: AnyStateNode;
  readonly inside: readonly Item[];
  /** The states that it stands for, where it is folded. */
  readonly holds?: readonly string[];
}

/** All ways between the same two boxes. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly Way[];
}

/** What is to be drawn. */
export interface Content {
  readonly items: readonly Item[];
  readonly arrows: readonly Arrow[];
  /** Ways that lead out of it, and those that every state takes. */
  readonly exits: readonly Way[];
}

/** The part of a machine that is drawn. */
interface Scope {
  readonly isRegion: boolean;
  readonly contains: (state: string) => boolean;
  readonly mainPath: readonly string[] | undefined;
}

/** What one drawing has in it; without a region the whole machine. */
export function contentOf(machine: AnyStateMachine, region?: Region): Content {
  const scope: Scope = {
    isRegion: region !== undefined,
    contains: (state) => region === undefined || regionOf(machine, state) === region,
    mainPath: region && mainPathOf(machine, region),
  };
  const items = merged(childrenOf(machine.root).flatMap((node) => itemsOf(node, scope)));
  const shownAs = namesIn(items);
  const arrows = new Map<string, Arrow>();
  const exits: Way[] = [];
  for (const way of waysOf(machine)) {
    if (way.to === undefined || (way.from !== '' && !hasPartIn(way.from, shownAs))) continue;
    const ends = way.from === '' ? [] : endsOf(machine, way.from, way.to, shownAs);
    if (ends.length === 0) exits.push(way);
    for (const [from, to] of ends) {
      const known = arrows.get(`${from} ${to}`);
      arrows.set(`${from} ${to}`, { from, to, ways: [...(known?.ways ?? []), way] });
    }
  }
  return { items, arrows: [...arrows.values()].filter(({ from, to }) => from !== to), exits };
}

/** A state's name is its own, unless another state of the drawing has the same. */
function merged(items: readonly Item[]): Item[] {
  const labels = items.map(({ label }) => label);
  const isOften = (label: string) => labels.filter((each) => each === label).length > 1;
  return items.map((item) => (isOften(item.label) ? { ...item, label: item.id } : item));
}

/** A state as a box, without those of other regions; what is inside an open one stands for itself. */
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

/** The box that stands for each state. */
function namesIn(items: readonly Item[]): Map<string, string> {
  return new Map(
    items.flatMap(({ id, inside, holds }) => [
      ...(holds ? holds.map((state) => [state, id] as const) : [[id, id] as const]),
      ...namesIn(inside),
    ]),
  );
}

const hasPartIn = (state: string, shownAs: ReadonlyMap<string, string>): boolean =>
  shownAs.has(state) || [...shownAs.keys()].some((each) => isInside(each, state));

/** Between which boxes a way goes; none where it leads out. One out of a state without a box leaves each that is inside it. */
function endsOf(machine: AnyStateMachine, from: string, to: string, shownAs: ReadonlyMap<string, string>) {
  const target = shownAs.get(to) ?? shownAs.get(firstInside(machine, to));
  if (target === undefined) return [];
  const own = shownAs.get(from);
  const sources = own === undefined ? [...shownAs].filter(([state]) => isInside(state, from)) : [[from, own] as const];
  return [...new Set(sources.map(([, box]) => box))].map((box) => [box, target] as const);
}

/** The state that one enters with this one; one that is left for what was there before stands for all around it. */
function firstInside(machine: AnyStateMachine, state: string): string {
  const node = nodesOf(machine.root).find((each) => dotted(each) === state);
  if (node?.type === 'history' && node.parent) return dotted(node.parent);
  const first = node?.type === 'compound' ? node.initial.target?.[0] : undefined;
  return first ? firstInside(machine, dotted(first)) : state;
}
