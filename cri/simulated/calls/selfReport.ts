import {
  CgroupDriver,
  type RuntimeConfigResponse,
  StatusResponse,
  type VersionResponse,
} from '../../generated/runtime.ts';
import type { Network } from '../objects/network.ts';
import type { RuntimeFeatures } from '../options.ts';
import { runtimeInfo } from './info.ts';

export const VERSION_RESPONSE: VersionResponse = {
  version: '0.1.0',
  runtimeName: 'simulated',
  runtimeVersion: '1.0.0',
  runtimeApiVersion: 'v1',
};

/** Returns the conditions and the features of the runtime. */
export function runtimeStatus(
  { userNamespaces = false, supplementalGroupsPolicy = false }: RuntimeFeatures,
  { problem }: Network,
  verbose: boolean,
): StatusResponse {
  const networkCondition = problem === undefined ? { status: true } : networkNotReadyCondition(problem);
  return StatusResponse.fromPartial({
    status: {
      conditions: [
        { type: 'RuntimeReady', status: true },
        { type: 'NetworkReady', ...networkCondition },
      ],
    },
    runtimeHandlers: [{ name: '', features: { userNamespaces } }],
    features: { supplementalGroupsPolicy },
    info: verbose ? runtimeInfo(problem) : {},
  });
}

function networkNotReadyCondition(problem: string) {
  return { status: false, reason: 'NetworkPluginNotReady', message: `Network plugin returns error: ${problem}` };
}

export function runtimeConfig(): RuntimeConfigResponse {
  return { linux: { cgroupDriver: CgroupDriver.CGROUPFS } };
}
