import * as z from 'zod/mini';
import { boolean, duration, list, map, section, text, whole } from '../fields.ts';

const int32 = whole(-(2 ** 31), 2 ** 31 - 1);

/** When pods must go: pressure on the node, or its shutdown. */
export const eviction = {
  evictionHard: z.optional(map(text)),
  evictionSoft: z.optional(map(text)),
  evictionSoftGracePeriod: z.optional(map(text)),
  evictionPressureTransitionPeriod: z.optional(duration()),
  evictionMaxPodGracePeriod: z.optional(whole()),
  evictionMinimumReclaim: z.optional(map(text)),
  mergeDefaultEvictionSettings: z.optional(boolean),
  kernelMemcgNotification: z.optional(boolean),
  shutdownGracePeriod: z.optional(duration()),
  shutdownGracePeriodCriticalPods: z.optional(duration()),
  shutdownGracePeriodByPodPriority: z.optional(
    list(section({ priority: int32, shutdownGracePeriodSeconds: whole(0, Number.MAX_SAFE_INTEGER) })),
  ),
};
