/**
 * Reads the pod status that an API server returns, field by field. A malformed field is treated as missing, so that the
 * remaining fields are usable.
 */
import * as z from 'zod/mini';
import type { PodStatus } from '../schema/status.ts';

/** Creates the schema of an optional field that is undefined if its value does not match `schema`. */
const lenientField = <T extends z.core.SomeType>(schema: T) => z.catch(z.optional(schema), undefined);

/** Creates the schema of a list from which entries that do not match `schema` are removed. */
const lenientList = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.array(z.unknown()),
    z.transform((list) =>
      list.flatMap((each) => {
        const { success, data } = z.safeParse(schema, each);
        return success ? [data] : [];
      }),
    ),
  );

const timestampSchema = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text))));
const nullableTimeSchema = lenientField(z.nullable(timestampSchema));
const optionalTextSchema = lenientField(z.string());
const optionalCountSchema = lenientField(z.int());
const amountsSchema = lenientField(z.record(z.string(), z.union([z.string(), z.number()])));
const resourcesSchema = lenientField(z.looseObject({ limits: amountsSchema, requests: amountsSchema }));

const addressSchema = z.looseObject({ ip: z.string() });
const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: optionalTextSchema,
  message: optionalTextSchema,
  observedGeneration: optionalCountSchema,
  lastProbeTime: nullableTimeSchema,
  lastTransitionTime: nullableTimeSchema,
});
const stateSchema = lenientField(
  z.looseObject({
    waiting: lenientField(z.looseObject({ reason: optionalTextSchema, message: optionalTextSchema })),
    running: lenientField(z.looseObject({ startedAt: nullableTimeSchema })),
    terminated: lenientField(
      z.looseObject({
        exitCode: z.int(),
        signal: optionalCountSchema,
        reason: optionalTextSchema,
        message: optionalTextSchema,
        containerID: optionalTextSchema,
        startedAt: nullableTimeSchema,
        finishedAt: nullableTimeSchema,
      }),
    ),
  }),
);
const containerSchema = z.looseObject({
  name: z.string(),
  ready: z.boolean(),
  restartCount: z.int(),
  image: z.string(),
  imageID: z.string(),
  containerID: optionalTextSchema,
  started: lenientField(z.boolean()),
  state: stateSchema,
  lastState: stateSchema,
  allocatedResources: amountsSchema,
  resources: resourcesSchema,
});
const containersSchema = lenientField(lenientList(containerSchema));

const statusSchema = z.looseObject({
  observedGeneration: optionalCountSchema,
  phase: lenientField(z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])),
  conditions: lenientField(lenientList(conditionSchema)),
  message: optionalTextSchema,
  reason: optionalTextSchema,
  nominatedNodeName: optionalTextSchema,
  hostIP: optionalTextSchema,
  hostIPs: lenientField(lenientList(addressSchema)),
  podIP: optionalTextSchema,
  podIPs: lenientField(lenientList(addressSchema)),
  startTime: lenientField(timestampSchema),
  qosClass: lenientField(z.enum(['Guaranteed', 'Burstable', 'BestEffort'])),
  resize: optionalTextSchema,
  initContainerStatuses: containersSchema,
  containerStatuses: containersSchema,
  ephemeralContainerStatuses: containersSchema,
  allocatedResources: amountsSchema,
  resources: resourcesSchema,
  resourceClaimStatuses: lenientField(
    lenientList(z.looseObject({ name: z.string(), resourceClaimName: optionalTextSchema })),
  ),
  extendedResourceClaimStatus: lenientField(
    z.looseObject({
      resourceClaimName: z.string(),
      requestMappings: lenientList(
        z.looseObject({ containerName: z.string(), resourceName: z.string(), requestName: z.string() }),
      ),
    }),
  ),
});

/** Parses a status. Returns undefined if it is not an object. */
export function readStatus(status: unknown): PodStatus | undefined {
  const { success, data } = z.safeParse(statusSchema, status);
  // Safe cast, because the schema covers every field that this code reads.
  return success ? (withoutUndefined(data) as PodStatus) : undefined;
}

/** Removes undefined fields at any depth. */
const withoutUndefined = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
