/** Does to a node what a story tells. */
import type { SimulatedSandbox } from '../../cri/simulated/views.ts';
import { fullName } from '../host.ts';
import type { Simulation } from '../simulateNode.ts';
import type { Deed } from './story.ts';

type Act<K extends Deed['kind']> = (simulation: Simulation, deed: Extract<Deed, { kind: K }>) => void;

const acts: { readonly [K in Deed['kind']]: Act<K> } = {
  apply: (simulation, { pod }) => simulation.apply(pod),
  remove: (simulation, { pod }) => simulation.remove(pod),
  scribble: ({ host }, { file, text }) => host.writeManifest(file, text),
  exit: ({ host }, { which, exitCode, reason }) => host.exit(which, exitCode, reason),
  killSandbox: (simulation, { which }) => touch(simulation, simulation.host.killSandbox(which)),
  removeSandbox: (simulation, { which }) => touch(simulation, simulation.host.removeSandbox(which)),
  killAgent: (simulation, { downMs }) => {
    simulation.kill();
    simulation.startAgentIn(downMs);
  },
  runtimeDown: ({ host, deeds, elapsed }, down) => {
    deeds.touchAll(elapsed);
    host.stopRuntime(down);
  },
  events: ({ host }, { delivery, forMs }) => host.deliverEvents(delivery, forMs),
  jump: (simulation, { ms }) => simulation.jump(ms),
  powerCut: (simulation, { downMs }) => {
    simulation.cutPower();
    simulation.startAgentIn(downMs);
  },
};

export function perform(simulation: Simulation, deed: Deed): void {
  // The act of a kind takes the deeds of that kind.
  const act = acts[deed.kind] as Act<Deed['kind']>;
  act(simulation, deed as never);
}

function touch({ deeds, elapsed }: Simulation, sandbox: SimulatedSandbox | undefined): void {
  if (sandbox) deeds.touch(fullName(sandbox), elapsed);
}
