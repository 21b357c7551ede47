import * as z from 'zod/mini';
import { enumStringSchema, textMapSchema } from './scalars.ts';

export const labelSelectorSchema = z.strictObject({
  matchLabels: z.exactOptional(textMapSchema),
  matchExpressions: z.exactOptional(
    z.array(
      z.strictObject({
        key: z.string(),
        operator: enumStringSchema<'In' | 'NotIn' | 'Exists' | 'DoesNotExist'>(),
        values: z.exactOptional(z.array(z.string())),
      }),
    ),
  ),
});
