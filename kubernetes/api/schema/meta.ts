import * as z from 'zod/mini';
import { textMapSchema, timeSchema } from './scalars.ts';

const ownerReferenceSchema = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.exactOptional(z.boolean()),
  blockOwnerDeletion: z.exactOptional(z.boolean()),
});

const managedFieldsSchema = z.strictObject({
  manager: z.exactOptional(z.string()),
  operation: z.exactOptional(z.string()),
  apiVersion: z.exactOptional(z.string()),
  time: z.exactOptional(timeSchema),
  fieldsType: z.exactOptional(z.string()),
  fieldsV1: z.exactOptional(z.record(z.string(), z.unknown())),
  subresource: z.exactOptional(z.string()),
});

/** Schema of an object's metadata in a manifest. */
export const manifestMetaSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  generateName: z.exactOptional(z.string()),
  namespace: z.exactOptional(z.string()),
  selfLink: z.exactOptional(z.string()),
  uid: z.exactOptional(z.string()),
  resourceVersion: z.exactOptional(z.string()),
  generation: z.exactOptional(z.int()),
  creationTimestamp: z.exactOptional(timeSchema),
  deletionTimestamp: z.exactOptional(timeSchema),
  deletionGracePeriodSeconds: z.exactOptional(z.int()),
  labels: z.exactOptional(textMapSchema),
  annotations: z.exactOptional(textMapSchema),
  ownerReferences: z.exactOptional(z.array(ownerReferenceSchema)),
  finalizers: z.exactOptional(z.array(z.string())),
  managedFields: z.exactOptional(z.array(managedFieldsSchema)),
});

/** Schema of a pod's metadata on the node. Name, namespace and UID are always set. */
export const objectMetaSchema = z.extend(manifestMetaSchema, {
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
});
