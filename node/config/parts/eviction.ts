import * as z from 'zod/mini';
import { parseDuration } from '../../../kubernetes/api/parseDuration.ts';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { boolean, duration, list, section, type text, textLike, whole } from '../fields.ts';

const int32 = whole(-(2 ** 31), 2 ** 31 - 1);

/** The eviction signals of the kubelet. */
const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

/** A map with an optional entry for each eviction signal. */
const bySignal = (kind: typeof text) =>
  section(Object.fromEntries(SIGNALS.map((signal) => [signal, z.optional(kind)])), 'eviction signal');

/** An eviction threshold. The kubelet accepts 0 only as a percentage. */
const line = z.custom<string>((value) => typeof value === 'string' && isLine(value), {
  error: 'expected a quantity above 0 such as "100Mi", or a percentage such as "10%"',
});

function isLine(value: string): boolean {
  if (value.endsWith('%')) return /^\d+(\.\d+)?%$/.test(value) && Number.parseFloat(value) <= 100;
  return (parseQuantity(value) ?? 0n) > 0n;
}

const grace = textLike('a duration such as "1m30s"', (text) => parseDuration(text) !== undefined);
const reclaim = textLike('a quantity such as "500Mi", or a percentage such as "5%"', (text) =>
  text.endsWith('%') ? /^\d+(\.\d+)?%$/.test(text) && Number.parseFloat(text) > 0 : (parseQuantity(text) ?? -1n) >= 0n,
);

/** The fields for eviction under pressure and for node shutdown. */
export const eviction = () => ({
  evictionHard: z.optional(bySignal(line)),
  evictionSoft: z.optional(bySignal(line)),
  evictionSoftGracePeriod: z.optional(bySignal(grace)),
  evictionPressureTransitionPeriod: z.optional(duration()),
  evictionMaxPodGracePeriod: z.optional(whole()),
  evictionMinimumReclaim: z.optional(bySignal(reclaim)),
  mergeDefaultEvictionSettings: z.optional(boolean),
  kernelMemcgNotification: z.optional(boolean),
  shutdownGracePeriod: z.optional(duration()),
  shutdownGracePeriodCriticalPods: z.optional(duration()),
  shutdownGracePeriodByPodPriority: z.optional(
    list(section({ priority: int32, shutdownGracePeriodSeconds: whole(0, Number.MAX_SAFE_INTEGER) })),
  ),
});
