/** Manages systemd slices over D-Bus with `busctl`. */

import { messageOf } from '../../base/failure.ts';
import { busctlProperties, newSliceProperties, sliceProperties } from '../../kubernetes/resources/cgroupFiles.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import { runProgram } from '../program.ts';

/** Calls a method of systemd's D-Bus Manager interface with the given signature and arguments. */
export type CallSystemd = (method: string, signature: string, args: readonly string[]) => Promise<void>;

/** Timeout in milliseconds. It prevents an unresponsive systemd from blocking a pod forever. */
const CALL_TIMEOUT_MS = 25_000;

export const callSystemd: CallSystemd = async (method, signature, args) => {
  const managerTarget = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];
  const { signal } = new AbortController();
  const busctlArguments = ['--system', 'call', ...managerTarget, method, signature, ...args];
  await runProgram('busctl', busctlArguments, { signal, timeoutMs: CALL_TIMEOUT_MS }).catch((cause: Error) => {
    throw new Error(`busctl ${method}: ${cause.message}`, { cause });
  });
};

const messageIncludes = (error: unknown, ...phrases: readonly string[]): boolean => {
  const message = messageOf(error);
  return phrases.some((word) => message.includes(word));
};

/** Ensures that a slice exists and has the given limits. */
export async function startSlice(
  call: CallSystemd,
  slice: string,
  limits: CgroupLimits,
  version: 'v1' | 'v2',
): Promise<void> {
  const properties = busctlProperties(newSliceProperties(slice, limits, version));
  try {
    await call('StartTransientUnit', 'ssa(sv)a(sa(sv))', [slice, 'replace', ...properties, '0']);
  } catch (error) {
    if (!messageIncludes(error, 'already exists', 'already loaded')) throw error;
    await setSliceLimits(call, slice, limits, version);
  }
}

/** Changes the limits of an existing slice until the next boot. */
export async function setSliceLimits(
  call: CallSystemd,
  slice: string,
  limits: CgroupLimits,
  version: 'v1' | 'v2',
): Promise<void> {
  const properties = busctlProperties(sliceProperties(limits, version));
  await call('SetUnitProperties', 'sba(sv)', [slice, 'true', ...properties]);
}

/** Stops a slice. Succeeds if it does not exist. */
export async function stopSlice(call: CallSystemd, slice: string): Promise<void> {
  try {
    await call('StopUnit', 'ss', [slice, 'replace']);
  } catch (error) {
    if (!messageIncludes(error, 'not loaded')) throw error;
  }
}
