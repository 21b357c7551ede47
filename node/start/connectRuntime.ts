import type { NodeParts } from '../../actors/node/nodeParts.ts';
import { systemClock } from '../../base/time/clock.ts';
import { connectCri } from '../../cri/client/connectCri.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

/** A runtime, and a function that measures the runtime's image filesystem if that filesystem is not on the host. */
export type ConnectedRuntime = Pick<NodeParts, 'cri' | 'readImageDisk'>;

/** Connects to the configured container runtime, or creates a simulated runtime. */
export const connectRuntime = async ({
  config,
  isSimulated,
}: {
  config: NodeConfig;
  isSimulated: boolean;
}): Promise<ConnectedRuntime> =>
  isSimulated
    ? createSimulatedCri()
    : {
        cri: connectCri({
          runtimeEndpoint: config.containerRuntimeEndpoint,
          imageEndpoint: config.imageServiceEndpoint,
          requestTimeoutMs: config.runtimeRequestTimeoutMs,
        }),
      };

/** Creates a runtime that does not run containers, for hosts that cannot run any. */
async function createSimulatedCri(): Promise<ConnectedRuntime> {
  const [{ createSimulatedRuntime }, { inProcessCri }, { serveSimulatedStreams }] = await Promise.all([
    import('../../cri/simulated/runtime.ts'),
    import('../../cri/simulated/inProcessCri.ts'),
    import('../../cri/simulated/streams/serveSimulatedStreams.ts'),
  ]);
  const { streams } = serveSimulatedStreams(systemClock);
  const runtime = createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true }, streams });
  return { cri: inProcessCri(runtime), readImageDisk: async () => runtime.imageDisk() };
}
