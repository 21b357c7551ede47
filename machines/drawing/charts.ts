/** Draws every machine as a diagram from its own definition. */
import { type AnyStateMachine, StateMachine } from 'xstate';
import { nodeAgentMachine } from '../node/chart.ts';
import { mermaidOf } from './mermaid.ts';

export interface Chart {
  /** The machine's ID. */
  readonly name: string;
  /** The machine's description, in one sentence. */
  readonly summary: string;
  /** Source of a Mermaid `stateDiagram-v2`. */
  readonly mermaid: string;
  readonly machine: AnyStateMachine;
}

/** Returns a machine and, recursively, all machines that it can spawn or invoke. */
function machinesOf(machine: AnyStateMachine, machines = new Set<AnyStateMachine>()): Set<AnyStateMachine> {
  machines.add(machine);
  for (const logic of Object.values(machine.implementations.actors)) {
    if (logic instanceof StateMachine) machinesOf(logic, machines);
  }
  return machines;
}

/** All machines. The node's machine comes first. */
export const machines: readonly AnyStateMachine[] = [...machinesOf(nodeAgentMachine)];

export const createCharts = (): Chart[] =>
  machines.map((machine) => ({
    name: machine.id,
    summary: machine.root.description ?? '',
    mermaid: mermaidOf(machine),
    machine,
  }));
