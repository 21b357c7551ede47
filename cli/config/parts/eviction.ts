import * as z from 'zod/mini';
import { boolean, duration, list, section, text, whole } from '../fields.ts';

const int32 = whole(-(2 ** 31), 2 ** 31 - 1);

/** What a node can run short of, as far as the kubelet knows it. */
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

/** A string for each eviction signal. */
const bySignal = section(Object.fromEntries(SIGNALS.map((signal) => [signal, z.optional(text)])), 'eviction signal');

/** When pods must go: pressure on the node, or its shutdown. */
export const eviction = {
  evictionHard: z.optional(bySignal),
  evictionSoft: z.optional(bySignal),
  evictionSoftGracePeriod: z.optional(bySignal),
  evictionPressureTransitionPeriod: z.optional(duration()),
  evictionMaxPodGracePeriod: z.optional(whole()),
  evictionMinimumReclaim: z.optional(bySignal),
  mergeDefaultEvictionSettings: z.optional(boolean),
  kernelMemcgNotification: z.optional(boolean),
  shutdownGracePeriod: z.optional(duration()),
  shutdownGracePeriodCriticalPods: z.optional(duration()),
  shutdownGracePeriodByPodPriority: z.optional(
    list(section({ priority: int32, shutdownGracePeriodSeconds: whole(0, Number.MAX_SAFE_INTEGER) })),
  ),
};
