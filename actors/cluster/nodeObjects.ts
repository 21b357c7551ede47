/** Defines schemas and parsers for the node's own API objects. */
import * as z from 'zod/mini';
import { parseResponse } from '../../kubeclient/answer.ts';
import { isNotFound } from '../../kubeclient/kubeError.ts';

const stringMapSchema = z.optional(z.record(z.string(), z.string()));
const taintSchema = z.looseObject({
  key: z.string(),
  value: z.optional(z.string()),
  effect: z.string(),
});

const nodeSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    resourceVersion: z.optional(z.string()),
    deletionTimestamp: z.optional(z.string()),
    labels: stringMapSchema,
    annotations: stringMapSchema,
  }),
  spec: z._default(
    z.looseObject({
      unschedulable: z.optional(z.boolean()),
      taints: z.optional(z.array(taintSchema)),
      podCIDRs: z.optional(z.array(z.string())),
    }),
    {},
  ),
  status: z._default(z.record(z.string(), z.unknown()), {}),
});
const leaseSchema = z.looseObject({
  metadata: z.looseObject({ ownerReferences: z.optional(z.array(z.unknown())) }),
  spec: z._default(z.looseObject({}), {}),
});
const csiNodeSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    annotations: stringMapSchema,
    ownerReferences: z.optional(z.array(z.looseObject({ kind: z.string(), name: z.string(), uid: z.string() }))),
  }),
});

const namedObjectSchema = z.looseObject({ metadata: z.looseObject({ name: z.string(), uid: z.string() }) });

export type NamedObject = z.infer<typeof namedObjectSchema>;
export type ServerNode = z.infer<typeof nodeSchema>;
export type ServerCsiNode = z.infer<typeof csiNodeSchema>;
export type ServerLease = z.infer<typeof leaseSchema>;

/** Parses a Node from a watch. The errors do not name a request, unlike those of `readNode`. */
export const parseNode = (object: unknown): ServerNode => z.parse(nodeSchema, object);

/** Parses the response to `request`, e.g. `GET /api/v1/nodes/node-1`. */
export const readNode = (object: unknown, request: string): ServerNode =>
  parseResponse(nodeSchema, object, { request, expected: 'a Node' });
export const readLease = (object: unknown, request: string): ServerLease =>
  parseResponse(leaseSchema, object, { request, expected: 'a Lease' });
export const readCsiNode = (object: unknown, request: string) =>
  parseResponse(csiNodeSchema, object, { request, expected: 'a CSINode' });
export const readNamedObject = (object: unknown, request: string): NamedObject =>
  parseResponse(namedObjectSchema, object, { request, expected: 'an object with a name and a UID' });

/** Returns an owner reference to the Node. */
export const nodeOwnerReference = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid });

export async function undefinedIfNotFound<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
