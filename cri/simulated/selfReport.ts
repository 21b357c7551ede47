import {
  CgroupDriver,
  type RuntimeConfigResponse,
  StatusResponse,
  type VersionResponse,
} from '../generated/runtime.ts';
import { runtimeInfo } from './info.ts';
import type { Network } from './network.ts';
import type { RuntimeCan } from './options.ts';

/** What the runtime says it is. */
export const VERSION: VersionResponse = {
  version: '0.1.0',
  runtimeName: 'simulated',
  runtimeVersion: '1.0.0',
  runtimeApiVersion: 'v1',
};

/** What the runtime says of its own health, and what it can do. */
export function runtimeStatus(
  { userNamespaces = false, supplementalGroupsPolicy = false }: RuntimeCan,
  { problem }: Network,
  verbose: boolean,
): StatusResponse {
  const networkReady = problem === undefined ? { status: true } : networkNotReady(problem);
  return StatusResponse.fromPartial({
    status: {
      conditions: [
        { type: 'RuntimeReady', status: true },
        { type: 'NetworkReady', ...networkReady },
      ],
    },
    runtimeHandlers: [{ name: '', features: { userNamespaces } }],
    features: { supplementalGroupsPolicy },
    info: verbose ? runtimeInfo(problem) : {},
  });
}

function networkNotReady(problem: string) {
  return { status: false, reason: 'NetworkPluginNotReady', message: `Network plugin returns error: ${problem}` };
}

/** What the runtime says of its configuration. */
export function runtimeConfig(): RuntimeConfigResponse {
  return { linux: { cgroupDriver: CgroupDriver.CGROUPFS } };
}
