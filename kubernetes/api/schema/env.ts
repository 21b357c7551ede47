import * as z from 'zod/mini';
import { quantitySchema } from './scalars.ts';

export const fieldRefSchema = z.strictObject({ apiVersion: z.exactOptional(z.string()), fieldPath: z.string() });

export type ObjectFieldSelector = z.infer<typeof fieldRefSchema>;

export const resourceFieldRefSchema = z.strictObject({
  containerName: z.exactOptional(z.string()),
  resource: z.string(),
  divisor: z.exactOptional(quantitySchema),
});

export type ResourceFieldSelector = z.infer<typeof resourceFieldRefSchema>;

const keyRefSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  key: z.string(),
  optional: z.exactOptional(z.boolean()),
});

const envVarSourceSchema = z.strictObject({
  fieldRef: z.exactOptional(fieldRefSchema),
  resourceFieldRef: z.exactOptional(resourceFieldRefSchema),
  configMapKeyRef: z.exactOptional(keyRefSchema),
  secretKeyRef: z.exactOptional(keyRefSchema),
  fileKeyRef: z.exactOptional(
    z.strictObject({
      volumeName: z.string(),
      path: z.string(),
      key: z.string(),
      optional: z.exactOptional(z.boolean()),
    }),
  ),
});

export type EnvVarSource = z.infer<typeof envVarSourceSchema>;

/** Schema of an environment variable, which has either a value that may contain `$(VAR)`, or a source for the value. */
export const envVarSchema = z.strictObject({
  name: z.string(),
  value: z.exactOptional(z.string()),
  valueFrom: z.exactOptional(envVarSourceSchema),
});

export type EnvVar = z.infer<typeof envVarSchema>;

const envSourceSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  optional: z.exactOptional(z.boolean()),
});

/** Schema of a reference to a ConfigMap or Secret, all of whose keys become environment variables. */
export const envFromSourceSchema = z.strictObject({
  prefix: z.exactOptional(z.string()),
  configMapRef: z.exactOptional(envSourceSchema),
  secretRef: z.exactOptional(envSourceSchema),
});

export type EnvFromSource = z.infer<typeof envFromSourceSchema>;
