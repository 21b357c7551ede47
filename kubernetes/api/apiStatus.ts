/**
 * Reads a pod's status from an API server field by field, so that a malformed field counts as missing and the others
 * remain usable.
 */
import * as z from 'zod/mini';
import type { PodStatus } from './schema/status.ts';

/** Creates the schema of an optional field that is undefined if its value does not match `schema`. */
const lenientField = <T extends z.core.SomeType>(schema: T) => z.catch(z.optional(schema), undefined);

/** Creates the schema of a list that drops entries that do not match `schema`. */
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

const timestamp = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text))));
const nullableTime = lenientField(z.nullable(timestamp));
const optionalText = lenientField(z.string());
const optionalCount = lenientField(z.int());
const amounts = lenientField(z.record(z.string(), z.union([z.string(), z.number()])));
const resources = lenientField(z.looseObject({ limits: amounts, requests: amounts }));

const address = z.looseObject({ ip: z.string() });
const condition = z.looseObject({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: optionalText,
  message: optionalText,
  observedGeneration: optionalCount,
  lastProbeTime: nullableTime,
  lastTransitionTime: nullableTime,
});
const state = lenientField(
  z.looseObject({
    waiting: lenientField(z.looseObject({ reason: optionalText, message: optionalText })),
    running: lenientField(z.looseObject({ startedAt: nullableTime })),
    terminated: lenientField(
      z.looseObject({
        exitCode: z.int(),
        signal: optionalCount,
        reason: optionalText,
        message: optionalText,
        containerID: optionalText,
        startedAt: nullableTime,
        finishedAt: nullableTime,
      }),
    ),
  }),
);
const container = z.looseObject({
  name: z.string(),
  ready: z.boolean(),
  restartCount: z.int(),
  image: z.string(),
  imageID: z.string(),
  containerID: optionalText,
  started: lenientField(z.boolean()),
  state,
  lastState: state,
  allocatedResources: amounts,
  resources,
});
const containers = lenientField(lenientList(container));

const statusSchema = z.looseObject({
  observedGeneration: optionalCount,
  phase: lenientField(z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])),
  conditions: lenientField(lenientList(condition)),
  message: optionalText,
  reason: optionalText,
  nominatedNodeName: optionalText,
  hostIP: optionalText,
  hostIPs: lenientField(lenientList(address)),
  podIP: optionalText,
  podIPs: lenientField(lenientList(address)),
  startTime: lenientField(timestamp),
  qosClass: lenientField(z.enum(['Guaranteed', 'Burstable', 'BestEffort'])),
  resize: optionalText,
  initContainerStatuses: containers,
  containerStatuses: containers,
  ephemeralContainerStatuses: containers,
  allocatedResources: amounts,
  resources,
  resourceClaimStatuses: lenientField(
    lenientList(z.looseObject({ name: z.string(), resourceClaimName: optionalText })),
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

/** Returns undefined if the status is not an object. */
export function readStatus(status: unknown): PodStatus | undefined {
  const { success, data } = z.safeParse(statusSchema, status);
  // Safe cast: the schema covers every field that this code reads.
  return success ? (withoutUndefined(data) as PodStatus) : undefined;
}

/** Removes undefined fields at any depth. */
const withoutUndefined = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
