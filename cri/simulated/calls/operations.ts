import type { CallName, Operations } from '../faults/callNames.ts';
import type { Network } from '../objects/network.ts';
import type { SimulatedRuntimeOptions } from '../options.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { Containers } from './containers.ts';
import type { Images } from './images.ts';
import type { Sandboxes } from './sandboxes.ts';
import { runtimeConfig, runtimeStatus, VERSION_RESPONSE } from './selfReport.ts';
import type { Stats } from './stats.ts';

interface RuntimeComponents {
  readonly sandboxes: Sandboxes;
  readonly containers: Containers;
  readonly images: Images;
  readonly network: Network;
  readonly stats: Stats;
  readonly streamingCalls: Pick<Operations, 'exec' | 'attach' | 'portForward'>;
}

/** Maps each call to the component that implements it. */
export function createOperations(
  context: RuntimeContext,
  { sandboxes, containers, images, network, stats, streamingCalls }: RuntimeComponents,
  execSync: Operations['execSync'],
  { features = {}, version }: Pick<SimulatedRuntimeOptions, 'features' | 'version'>,
): Operations {
  const createOperation = <Response>(call: CallName, respond: () => Response) => {
    return (_: unknown, signal: AbortSignal) => context.simulateWork(call, signal).then(respond);
  };
  return {
    version: createOperation('version', () => ({ ...VERSION_RESPONSE, ...version })),
    status: ({ verbose }, signal) =>
      context.simulateWork('status', signal).then(() => runtimeStatus(features, network, verbose)),
    updateRuntimeConfig: async ({ runtimeConfig: config }, signal) => {
      await context.simulateWork('updateRuntimeConfig', signal);
      network.configure(config?.networkConfig?.podCidr ?? '');
      return {};
    },
    runtimeConfig: createOperation('runtimeConfig', runtimeConfig),
    runPodSandbox: (request, signal) => sandboxes.run(request, signal),
    stopPodSandbox: (request, signal) => sandboxes.stop(request, signal),
    removePodSandbox: (request, signal) => sandboxes.remove(request, signal),
    podSandboxStatus: (request, signal) => sandboxes.status(request, signal),
    listPodSandbox: (request, signal) => sandboxes.list(request, signal),
    updatePodSandboxResources: (request, signal) => sandboxes.update(request, signal),
    createContainer: (request, signal) => containers.create(request, signal),
    startContainer: (request, signal) => containers.start(request, signal),
    stopContainer: (request, signal) => containers.stop(request, signal),
    removeContainer: (request, signal) => containers.remove(request, signal),
    listContainers: (request, signal) => containers.list(request, signal),
    containerStatus: (request, signal) => containers.status(request, signal),
    reopenContainerLog: (request, signal) => containers.reopenLog(request, signal),
    updateContainerResources: (request, signal) => containers.update(request, signal),
    checkpointContainer: (request, signal) => containers.checkpoint(request, signal),
    ...createStatsOperations(stats),
    execSync,
    ...streamingCalls,
    listImages: (request, signal) => images.list(request, signal),
    imageStatus: (request, signal) => images.status(request, signal),
    pullImage: (request, signal) => images.pull(request, signal),
    removeImage: (request, signal) => images.remove(request, signal),
  };
}

const createStatsOperations = (
  stats: Stats,
): Pick<
  Operations,
  'containerStats' | 'listContainerStats' | 'podSandboxStats' | 'listPodSandboxStats' | 'imageFsInfo'
> => ({
  containerStats: (request, signal) => stats.container(request, signal),
  listContainerStats: (request, signal) => stats.listContainers(request, signal),
  podSandboxStats: (request, signal) => stats.sandbox(request, signal),
  listPodSandboxStats: (request, signal) => stats.listSandboxes(request, signal),
  imageFsInfo: (request, signal) => stats.imageFs(request, signal),
});
