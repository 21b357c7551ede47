/** Every machine as a picture, drawn from its own definition. */
import { type AnyStateMachine, StateMachine } from 'xstate';
import { nodeAgentMachine } from '../node/chart.ts';
import { mermaidOf } from './mermaid.ts';

export interface Chart {
  /** The machine's id. */
  readonly name: string;
  /** Its description: what it is a chart of, in one sentence. */
  readonly summary: string;
  /** A `stateDiagram-v2`. */
  readonly mermaid: string;
}

/** A machine and all that it can spawn or invoke, from there inward. */
function machinesOf(machine: AnyStateMachine, seen = new Set<AnyStateMachine>()): Set<AnyStateMachine> {
  seen.add(machine);
  for (const logic of Object.values(machine.implementations.actors)) {
    if (logic instanceof StateMachine) machinesOf(logic, seen);
  }
  return seen;
}

/** All machines, from the node inward. */
export const machines: readonly AnyStateMachine[] = [...machinesOf(nodeAgentMachine)];

/** The charts of all machines. */
export const charts = (): Chart[] =>
  machines.map((machine) => ({
    name: machine.id,
    summary: machine.root.description ?? '',
    mermaid: mermaidOf(machine),
  }));
