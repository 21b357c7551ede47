/** Every machine as a picture, drawn from its own definition. */
import type { AnyStateMachine } from 'xstate';
import { admissionMachine } from '../admission/chart.ts';
import { cgroupsMachine } from '../cgroups/chart.ts';
import { containerMachine } from '../container/chart.ts';
import { imageMachine } from '../image/chart.ts';
import { limiterMachine } from '../limiter/chart.ts';
import { nodeAgentMachine } from '../node/chart.ts';
import { garbageMachine } from '../node/garbage.ts';
import { logRotationMachine } from '../node/logRotation.ts';
import { activeDeadlineMachine } from '../pod/activeDeadline.ts';
import { podMachine } from '../pod/chart.ts';
import { probeMachine } from '../probe/chart.ts';
import { statusSinkMachine } from '../statusSink/chart.ts';
import { volumeMachine } from '../volume/chart.ts';
import { mermaidOf } from './mermaid.ts';

export interface Chart {
  /** The machine's id. */
  readonly name: string;
  /** What it is a chart of, in one sentence. */
  readonly summary: string;
  /** A `stateDiagram-v2`. */
  readonly mermaid: string;
}

/** The charts of all machines, from the node inward. */
export const charts = (): Chart[] => [
  chart(nodeAgentMachine, 'The node: it learns what runs and what is wanted, runs the pods, and drains.'),
  chart(podMachine, 'One pod: volumes, then its sandbox, then its containers, and the way back.'),
  chart(containerMachine, 'One container of a pod over all its restarts.'),
  chart(probeMachine, 'One probe of one run of a container, from its first try to the end of the run.'),
  chart(imageMachine, 'One image that a container or a volume needs: looked for, and pulled by its policy.'),
  chart(volumeMachine, 'One volume of one pod, from its mount to its unmount.'),
  chart(activeDeadlineMachine, 'The time that one pod may be active on its node.'),
  chart(limiterMachine, 'A limiter of the node: so many at a time, and those that came first go first.'),
  chart(cgroupsMachine, 'The cgroups above those of pods, and the limit of all pods.'),
  chart(garbageMachine, 'The garbage collection of the node: dead containers, old sandboxes, what pods left on disk.'),
  chart(logRotationMachine, 'The rotation of the logs of containers that run.'),
  chart(statusSinkMachine, 'A sink of statuses: it is sent the latest of each pod, and what it does not take again.'),
  chart(admissionMachine, 'Admission of the node: it admits pods, one at a time, in the order of their arrival.'),
];

const chart = (machine: AnyStateMachine, summary: string): Chart => ({
  name: machine.id,
  summary,
  mermaid: mermaidOf(machine),
});
