import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Cri, RuntimeEvent } from '../../../cri/client/calls.ts';
import { ContainerConfig, PodSandboxConfig } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import type { SimulatedRuntimeOptions } from '../../../cri/simulated/options.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { Actions } from '../scenarioActions.ts';

export const IMAGE = 'statelet.local/busybox:1';

export const noAbort = new AbortController().signal;

/** A simulated runtime with its own clock and the image, and the clients that call it. */
export interface Simulation {
  readonly clock: SimulatedClock;
  readonly runtime: SimulatedRuntime;
  readonly cri: Cri;
  readonly play: Actions;
}

/** Creates a simulation, whose calls take no time unless the options say so. */
export function simulate(options: Partial<SimulatedRuntimeOptions> = {}): Simulation {
  const clock = new SimulatedClock();
  const runtime = createSimulatedRuntime({ clock, latency: 0, images: { present: [IMAGE] }, ...options });
  const cri = inProcessCri(runtime);
  const wait = (ms: number) => clock.advance(ms);
  return { clock, runtime, cri, play: new Actions({ cri, image: IMAGE, uid: 'u1', signal: noAbort, wait }) };
}

/** Starts a container in its own sandbox. Without a command it runs until it is stopped. */
export async function runOne({ play }: Simulation, command: readonly string[] = []) {
  const sandbox = await play.sandbox('web');
  const container = await play.container(sandbox, 'web', 'main', command);
  await play.start(container);
  return { sandbox, container };
}

/** Subscribes to the containerEvents. `ended` is the promise of the stream. */
export function follow(cri: Cri, signal: AbortSignal = noAbort) {
  const containerEvents: RuntimeEvent[] = [];
  const opened = Promise.withResolvers<void>();
  const ended = cri.containerEvents((hint) => containerEvents.push(hint), { signal, onOpen: opened.resolve });
  ended.catch(opened.reject);
  return { containerEvents, opened: opened.promise, ended };
}

/** Starts a container with one mount, in a pod with its own cgroup. */
export async function runIn({ cri }: Simulation, pod: string): Promise<{ sandbox: string; container: string }> {
  const options = { signal: noAbort };
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: { name: pod, namespace: 'default', uid: `uid-of-${pod}` },
    labels: { app: pod },
    linux: { cgroupParent: `/kubepods/burstable/${pod}` },
  });
  const config = ContainerConfig.fromPartial({
    metadata: { name: 'main', attempt: 2 },
    image: { image: IMAGE },
    labels: { part: 'main' },
    mounts: [{ containerPath: '/data', hostPath: '/srv/data', readonly: true }],
  });
  const { podSandboxId: sandbox } = await cri.runPodSandbox({ config: sandboxConfig, runtimeHandler: '' }, options);
  const request = { podSandboxId: sandbox, config, sandboxConfig };
  const { containerId: container } = await cri.createContainer(request, options);
  await cri.startContainer({ containerId: container }, options);
  return { sandbox, container };
}
