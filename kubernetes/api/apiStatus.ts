/** A pod's status as an API server has it: read field by field, so that what nobody can read is as if it had not been said. */
import * as z from 'zod/mini';
import type { PodStatus } from './schema/status.ts';

/** Absent where it is not of this kind. */
const field = <T extends z.core.SomeType>(schema: T) => z.catch(z.optional(schema), undefined);

/** Those of a list that are of this kind. */
const entries = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.array(z.unknown()),
    z.transform((all) =>
      all.flatMap((each) => {
        const { success, data } = z.safeParse(schema, each);
        return success ? [data] : [];
      }),
    ),
  );

const moment = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text))));
const time = field(z.nullable(moment));
const text = field(z.string());
const count = field(z.int());
const amounts = field(z.record(z.string(), z.union([z.string(), z.number()])));
const resources = field(z.looseObject({ limits: amounts, requests: amounts }));

const address = z.looseObject({ ip: z.string() });
const condition = z.looseObject({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: text,
  message: text,
  observedGeneration: count,
  lastProbeTime: time,
  lastTransitionTime: time,
});
const state = field(
  z.looseObject({
    waiting: field(z.looseObject({ reason: text, message: text })),
    running: field(z.looseObject({ startedAt: time })),
    terminated: field(
      z.looseObject({
        exitCode: z.int(),
        signal: count,
        reason: text,
        message: text,
        containerID: text,
        startedAt: time,
        finishedAt: time,
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
  containerID: text,
  started: field(z.boolean()),
  state,
  lastState: state,
  allocatedResources: amounts,
  resources,
});
const containers = field(entries(container));

const statusSchema = z.looseObject({
  observedGeneration: count,
  phase: field(z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])),
  conditions: field(entries(condition)),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: field(entries(address)),
  podIP: text,
  podIPs: field(entries(address)),
  startTime: field(moment),
  qosClass: field(z.enum(['Guaranteed', 'Burstable', 'BestEffort'])),
  resize: text,
  initContainerStatuses: containers,
  containerStatuses: containers,
  ephemeralContainerStatuses: containers,
  allocatedResources: amounts,
  resources,
  resourceClaimStatuses: field(entries(z.looseObject({ name: z.string(), resourceClaimName: text }))),
  extendedResourceClaimStatus: field(
    z.looseObject({
      resourceClaimName: z.string(),
      requestMappings: entries(
        z.looseObject({ containerName: z.string(), resourceName: z.string(), requestName: z.string() }),
      ),
    }),
  ),
});

/** Undefined: there is none that could be read. */
export function readStatus(status: unknown): PodStatus | undefined {
  const { success, data } = z.safeParse(statusSchema, status);
  // What the schema does not name nobody here looks into; what it leaves out is not there.
  return success ? (said(data) as PodStatus) : undefined;
}

/** Without what could not be read, at any depth. */
const said = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
