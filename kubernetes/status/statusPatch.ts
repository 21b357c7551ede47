/** What a node says of a pod's status to an API server: only what differs (`util/pod` of kubernetes). */
import { type JsonFields, type MergeKeys, strategicPatch } from '../../base/mergePatch.ts';

/** A status as JSON has it. */
export type StatusJson = JsonFields;

/** By which field the entries of lists are merged: statuses of containers are not, each list of them is whole. */
const MERGED: MergeKeys = new Map([
  ['conditions', 'type'],
  ['podIPs', 'ip'],
  ['hostIPs', 'ip'],
  ['resourceClaimStatuses', 'name'],
]);

/** The patch that makes one status of another; undefined: they are the same. */
export const statusPatch = (before: StatusJson, after: StatusJson): StatusJson | undefined =>
  strategicPatch(before, after, MERGED);
