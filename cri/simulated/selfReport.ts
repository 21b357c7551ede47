import { CgroupDriver, type RuntimeConfigResponse, StatusResponse } from '../generated/runtime.ts';

/** What the runtime says of its own health: all is well. */
export function runtimeStatus(): StatusResponse {
  const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true, reason: '', message: '' }));
  return StatusResponse.create({ status: { conditions } });
}

/** What the runtime says of its configuration. */
export function runtimeConfig(): RuntimeConfigResponse {
  return { linux: { cgroupDriver: CgroupDriver.CGROUPFS } };
}
