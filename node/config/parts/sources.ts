import * as z from 'zod/mini';
import { duration, text } from '../fields.ts';
import { headersField, manifestUrl } from '../urlFields.ts';

/** Fields for the sources of pods and the intervals at which they are read. */
export const sources = () => ({
  staticPodPath: z.optional(text),
  staticPodURL: z.optional(manifestUrl),
  staticPodURLHeader: z.optional(headersField),
  syncFrequency: z.optional(duration()),
  fileCheckFrequency: z.optional(duration()),
  httpCheckFrequency: z.optional(duration()),
});
