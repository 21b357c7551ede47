/** Slices of systemd, over its D-Bus interface as `busctl` speaks it. */

import { messageOf } from '../../base/failure.ts';
import { busctlProperties, newSliceProperties, sliceProperties } from '../../kubernetes/resources/cgroupFiles.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import { runProgram } from '../program.ts';

/** Calls a method of systemd's manager: its name, the signature of its arguments, the arguments. */
export type CallSystemd = (method: string, signature: string, args: readonly string[]) => Promise<void>;

/** A systemd that hangs must not hold a pod for ever. */
const ANSWER_WITHIN_MS = 25_000;

/** Calls the systemd of the host. */
export const callSystemd: CallSystemd = async (method, signature, args) => {
  const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];
  const { signal } = new AbortController();
  const call = ['--system', 'call', ...manager, method, signature, ...args];
  await runProgram('busctl', call, { signal, limitMs: ANSWER_WITHIN_MS }).catch((cause: Error) => {
    throw new Error(`busctl ${method}: ${cause.message}`, { cause });
  });
};

const says = (error: unknown, ...words: readonly string[]): boolean => {
  const text = messageOf(error);
  return words.some((word) => text.includes(word));
};

/** Sees to it that a slice is there and has these limits. */
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
    if (!says(error, 'already exists', 'already loaded')) throw error;
    await setSlice(call, slice, limits, version);
  }
}

/** Gives a slice that is there other limits, until the next boot. */
export async function setSlice(
  call: CallSystemd,
  slice: string,
  limits: CgroupLimits,
  version: 'v1' | 'v2',
): Promise<void> {
  const properties = busctlProperties(sliceProperties(limits, version));
  await call('SetUnitProperties', 'sba(sv)', [slice, 'true', ...properties]);
}

/** Ends a slice; one that is not there has ended. */
export async function stopSlice(call: CallSystemd, slice: string): Promise<void> {
  try {
    await call('StopUnit', 'ss', [slice, 'replace']);
  } catch (error) {
    if (!says(error, 'not loaded')) throw error;
  }
}
