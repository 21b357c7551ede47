import {
  CgroupDriver,
  type RuntimeConfigResponse,
  StatusResponse,
  type VersionResponse,
} from '../generated/runtime.ts';
import type { RuntimeCan } from './options.ts';

/** What the runtime says it is. */
export const VERSION: VersionResponse = {
  version: '0.1.0',
  runtimeName: 'simulated',
  runtimeVersion: '1.0.0',
  runtimeApiVersion: 'v1',
};

/** What the runtime says of its own health: all is well; and what it can do. */
export function runtimeStatus({
  userNamespaces = false,
  supplementalGroupsPolicy = false,
}: RuntimeCan): StatusResponse {
  const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true, reason: '', message: '' }));
  return StatusResponse.fromPartial({
    status: { conditions },
    runtimeHandlers: [{ name: '', features: { userNamespaces } }],
    features: { supplementalGroupsPolicy },
  });
}

/** What the runtime says of its configuration. */
export function runtimeConfig(): RuntimeConfigResponse {
  return { linux: { cgroupDriver: CgroupDriver.CGROUPFS } };
}
