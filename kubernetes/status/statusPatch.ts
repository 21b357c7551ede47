/**
 * Computes the patch of a pod's status that a node sends to an API server. The patch contains only the differences
 * (`util/pod` of Kubernetes).
 */
import { type JsonFields, type MergeKeys, strategicPatch } from '../../base/values/mergePatch.ts';

/** A pod status as a JSON object. */
export type StatusJson = JsonFields;

/**
 * Merge keys of the lists in a pod status. The lists of container statuses have none, so they are replaced as a whole.
 */
const MERGE_KEYS: MergeKeys = new Map([
  ['conditions', 'type'],
  ['podIPs', 'ip'],
  ['hostIPs', 'ip'],
  ['resourceClaimStatuses', 'name'],
]);

/** Returns the patch from `previous` to `current`, or undefined if they are equal. */
export const statusPatch = (previous: StatusJson, current: StatusJson): StatusJson | undefined =>
  strategicPatch(previous, current, MERGE_KEYS);
