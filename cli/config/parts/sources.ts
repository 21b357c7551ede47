import * as z from 'zod/mini';
import { duration, list, map, text } from '../fields.ts';

/** Where pods come from, and how often the agent looks. */
export const sources = {
  staticPodPath: z.optional(text),
  staticPodURL: z.optional(text),
  staticPodURLHeader: z.optional(map(list(text))),
  syncFrequency: z.optional(duration()),
  fileCheckFrequency: z.optional(duration()),
  httpCheckFrequency: z.optional(duration()),
};
