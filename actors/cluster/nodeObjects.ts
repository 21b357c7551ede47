/** The objects of a node at the API server, as far as it reads them. */
import * as z from 'zod/mini';
import { parseResponse } from '../../kubeclient/answer.ts';
import { isNotFound } from '../../kubeclient/kubeError.ts';

const texts = z.optional(z.record(z.string(), z.string()));
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
    labels: texts,
    annotations: texts,
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
    annotations: texts,
    ownerReferences: z.optional(z.array(z.looseObject({ kind: z.string(), name: z.string(), uid: z.string() }))),
  }),
});

const namedSchema = z.looseObject({ metadata: z.looseObject({ name: z.string(), uid: z.string() }) });

export type NamedObject = z.infer<typeof namedSchema>;
export type FoundNode = z.infer<typeof nodeSchema>;
export type FoundCsiNode = z.infer<typeof csiNodeSchema>;
export type FoundLease = z.infer<typeof leaseSchema>;

/** Of what a watch has told, where each object is read by itself. */
export const seenAsNode = (object: unknown): FoundNode => z.parse(nodeSchema, object);

/** Each of an answer to what was `asked`. */
export const readNode = (object: unknown, asked: string): FoundNode =>
  parseResponse(nodeSchema, object, { request: asked, expected: 'a Node' });
export const readLease = (object: unknown, asked: string): FoundLease =>
  parseResponse(leaseSchema, object, { request: asked, expected: 'a Lease' });
export const readCsiNode = (object: unknown, asked: string) =>
  parseResponse(csiNodeSchema, object, { request: asked, expected: 'a CSINode' });
export const readNamed = (object: unknown, asked: string): NamedObject =>
  parseResponse(namedSchema, object, { request: asked, expected: 'an object with a name and a UID' });

/** How the objects of a node refer to its Node. */
export const ownerNode = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid });

export async function orNone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
