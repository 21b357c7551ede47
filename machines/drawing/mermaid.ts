/** Renders a machine as a Mermaid state diagram from its executable definition. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { StateMeta } from '../shared/stateMeta.ts';
import { actionNames, transitionLabel } from './mermaidText.ts';
import { childrenOf, nodesOf, transitionsOf } from './ways.ts';

interface Edge {
  /** The state in whose box the edge is drawn. */
  readonly enclosingState: AnyStateNode;
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/**
 * Returns the source of a `stateDiagram-v2`. States are nested, and transitions are labeled `event [guard]` in the
 * order of the definition. Internal transitions are listed in the box of their state. Transitions that apply to every
 * state in a box start at a node "any state".
 */
export function mermaidOf(machine: AnyStateMachine): string {
  const edges = nodesOf(machine.root).flatMap(edgesOf);
  return `${['stateDiagram-v2', ...indentLines(renderBox(machine.root, edges))].join('\n')}\n`;
}

const indentLines = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);
const idOf = (node: AnyStateNode): string => node.path.join('_');
/** Returns the ID of the node "any state", which represents every state in a box. */
const anyStateId = (node: AnyStateNode): string => [...node.path, 'any'].join('_');
const isWithin = (node: AnyStateNode, box: AnyStateNode): boolean =>
  node === box || (node.parent !== undefined && isWithin(node.parent, box));
const initialState = (node: AnyStateNode): AnyStateNode | undefined => node.initial.target?.[0];

/** Draws the content of a compound state, which consists of its substates and the edges between them. */
function renderBox(box: AnyStateNode, edges: readonly Edge[]): string[] {
  const innerEdges = edges.filter(({ enclosingState }) => enclosingState === box);
  const initialNode = initialState(box);
  return [
    ...(initialNode ? [`[*] --> ${idOf(initialNode)}`] : []),
    ...childrenOf(box).flatMap((node) => renderState(node, edges)),
    ...renderAnyState(box, innerEdges),
    ...renderEdges(innerEdges),
    ...childrenOf(box).flatMap((node) => (node.type === 'final' ? [`${idOf(node)} --> [*]`] : [])),
  ];
}

function renderState(node: AnyStateNode, edges: readonly Edge[]): string[] {
  const title = `state "${node.key}" as ${idOf(node)}`;
  if (node.type === 'compound') return [`${title} {`, ...indentLines(renderBox(node, edges)), '}'];
  if (node.type === 'history') return [title, `${idOf(node)} : the previous state`];
  // Safe cast: every machine declares StateMeta as its meta type.
  const { waitsFor } = (node.meta ?? {}) as StateMeta;
  const detailLines = [...(waitsFor ? [`waits for ${waitsFor}`] : []), ...renderInternalTransitions(node)];
  return [title, ...detailLines.map((line) => `${idOf(node)} : ${line}`)];
}

function renderAnyState(box: AnyStateNode, innerEdges: readonly Edge[]): string[] {
  const id = anyStateId(box);
  const internalTransitions = renderInternalTransitions(box);
  if (internalTransitions.length === 0 && innerEdges.every(({ from }) => from !== id)) return [];
  return [`state "any state" as ${id}`, ...internalTransitions.map((step) => `${id} : ${step}`)];
}

const edgesOf = (node: AnyStateNode): Edge[] =>
  transitionsOf(node).flatMap((candidates) =>
    candidates.flatMap((transition) => {
      const target = transition.target?.[0];
      return target ? [createEdge(node, target, transitionLabel(transition, candidates))] : [];
    }),
  );

/**
 * Returns the edge of a transition. An edge from a box into itself starts at its "any state" node. An edge that
 * restarts the box leads to its initial state.
 */
function createEdge(source: AnyStateNode, target: AnyStateNode, label: string): Edge {
  const isCompound = source.type === 'compound';
  const edgeTarget = isCompound && target === source ? (initialState(target) ?? target) : target;
  const staysWithin = isCompound && isWithin(edgeTarget, source);
  const enclosingState = staysWithin ? source : commonBox(source, edgeTarget);
  return { enclosingState, from: staysWithin ? anyStateId(source) : idOf(source), to: idOf(edgeTarget), label };
}

function commonBox(first: AnyStateNode, second: AnyStateNode): AnyStateNode {
  const box = first.parent ?? first;
  return isWithin(second, box) ? box : commonBox(box, second);
}

/** Merges the edges between the same two states into one line. */
function renderEdges(edges: readonly Edge[]): string[] {
  const labels = new Map<string, string[]>();
  for (const { from, to, label } of edges) {
    const arrow = `${from} --> ${to}`;
    labels.set(arrow, [...(labels.get(arrow) ?? []), ...(label ? [label] : [])]);
  }
  return [...labels].map(([arrow, edgeLabels]) =>
    edgeLabels.length > 0 ? `${arrow} : ${edgeLabels.join('<br>')}` : arrow,
  );
}

/** Returns the events that a state handles without leaving it, as `event [guard] / action, action`. */
const renderInternalTransitions = (node: AnyStateNode): string[] =>
  transitionsOf(node).flatMap((candidates) =>
    candidates.flatMap((transition) => {
      const names = transition.actions.flatMap(actionNames);
      if (transition.target || names.length === 0) return [];
      return [`${transitionLabel(transition, candidates)} / ${names.join(', ')}`];
    }),
  );
