import { systemClock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { connectCri } from '../../cri/client/connectCri.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

/** Connects to the configured container runtime, or creates a simulated runtime. */
export const connectRuntime = async ({
  config,
  isSimulated,
}: {
  config: NodeConfig;
  isSimulated: boolean;
}): Promise<Cri> =>
  isSimulated
    ? createSimulatedCri()
    : connectCri({
        runtimeEndpoint: config.containerRuntimeEndpoint,
        imageEndpoint: config.imageServiceEndpoint,
        requestTimeoutMs: config.runtimeRequestTimeoutMs,
      });

/** Creates a runtime that does not run containers, for hosts that cannot run any. */
async function createSimulatedCri(): Promise<Cri> {
  const [{ createSimulatedRuntime }, { inProcessCri }, { serveSimulatedStreams }] = await Promise.all([
    import('../../cri/simulated/runtime.ts'),
    import('../../cri/simulated/inProcessCri.ts'),
    import('../../cri/simulated/streams/serveSimulatedStreams.ts'),
  ]);
  const { streams } = serveSimulatedStreams(systemClock);
  return inProcessCri(createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true }, streams }));
}
