import * as z from 'zod/mini';
import { duration, text } from '../fields.ts';
import { headersField, manifestUrl } from '../urlFields.ts';

/** Where pods come from, and how often the agent looks. */
export const sources = () => ({
  staticPodPath: z.optional(text),
  staticPodURL: z.optional(manifestUrl),
  staticPodURLHeader: z.optional(headersField),
  syncFrequency: z.optional(duration()),
  fileCheckFrequency: z.optional(duration()),
  httpCheckFrequency: z.optional(duration()),
});
