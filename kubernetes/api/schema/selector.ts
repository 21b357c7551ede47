import * as z from 'zod/mini';
import { textMapSchema, wordSchema } from './scalars.ts';

/** Which objects are meant, by their labels. */
export const labelSelectorSchema = z.strictObject({
  matchLabels: z.exactOptional(textMapSchema),
  matchExpressions: z.exactOptional(
    z.array(
      z.strictObject({
        key: z.string(),
        operator: wordSchema<'In' | 'NotIn' | 'Exists' | 'DoesNotExist'>(),
        values: z.exactOptional(z.array(z.string())),
      }),
    ),
  ),
});
