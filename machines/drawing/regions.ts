/** Reads the regions, layout and rules of drawings from the `meta` of states. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { Region, StateMeta } from '../shared/stateMeta.ts';
import { dottedPath, nodesOf } from './ways.ts';

// Safe cast: every machine declares StateMeta as its meta type.
const metaOf = (node: AnyStateNode) => (node.meta ?? {}) as StateMeta;

/** Returns a state and its ancestors, innermost first, or an empty list for an unknown state. */
function withAncestors(machine: AnyStateMachine, state: string): AnyStateNode[] {
  const stateNode = nodesOf(machine.root).find((node) => dottedPath(node) === state);
  const ancestors: AnyStateNode[] = [];
  for (let node = stateNode; node !== undefined; node = node.parent) ancestors.push(node);
  return ancestors;
}

/** Returns the regions of a machine. Small machines have none. */
export const regionsOf = (machine: AnyStateMachine): readonly Region[] => metaOf(machine.root).regions ?? [];

/** Returns the region of a state, which is the region of the innermost enclosing state that declares one. */
export function regionOf(machine: AnyStateMachine, state: string): Region | undefined {
  const id = withAncestors(machine, state)
    .map((node) => metaOf(node).region)
    .find((region) => region !== undefined);
  return regionsOf(machine).find((region) => region.id === id);
}

/** Returns the rules of a state, which are the rules of the innermost enclosing state that declares any. */
export const rulesOf = (machine: AnyStateMachine, state: string): readonly string[] =>
  withAncestors(machine, state)
    .map((node) => metaOf(node).rules)
    .find((rules) => rules !== undefined) ?? [];

/** Returns the states of a region. Without a region, returns all states of a machine that has no regions. */
function regionStates(machine: AnyStateMachine, region: Region | undefined): AnyStateNode[] {
  if (region === undefined && regionsOf(machine).length > 0) return [];
  return nodesOf(machine.root).filter((node) => regionOf(machine, dottedPath(node)) === region);
}

/**
 * Returns the columns of boxes in the drawing of `region` or, if it is undefined, of the whole machine. Columns run
 * from left to right, and the boxes in a column from top to bottom in chart order. Returns undefined if no state
 * declares a column. All boxes are then laid out from left to right.
 */
export function regionColumns(machine: AnyStateMachine, region?: Region): readonly (readonly string[])[] | undefined {
  const columns: string[][] = [];
  for (const node of regionStates(machine, region)) {
    const { column } = metaOf(node).layout ?? {};
    if (column === undefined) continue;
    columns[column - 1] = [...(columns[column - 1] ?? []), dottedPath(node)];
  }
  return columns.length > 0 ? columns : undefined;
}

/**
 * Returns the states on the usual path through a region. The drawing collapses all other states. Returns undefined if
 * the drawing shows all states.
 */
export function mainPathOf(machine: AnyStateMachine, region: Region): readonly string[] | undefined {
  const mainPathNodes = regionStates(machine, region).filter((node) => metaOf(node).layout?.isOnMainPath === true);
  return mainPathNodes.length > 0 ? mainPathNodes.map(dottedPath) : undefined;
}

/** Whether the drawing of a region shows the substates of a state without a box around them. */
export const hasNoBox = (node: AnyStateNode): boolean => metaOf(node).layout?.hasNoBox === true;

/** Whether a state is `outer` or one of its substates. */
export const isInside = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);
