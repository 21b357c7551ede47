/** What handlers of subresources share. */
import type { JsonObject } from '../json.ts';
import type { Resource } from '../resources/resource.ts';
import type { Call } from './call.ts';

/** A subresource may be of another kind than what it belongs to. */
export function kindWritten({ target }: Pick<Call, 'target'>): Pick<Resource, 'group' | 'version' | 'kind'> {
  const { resource, subresource } = target;
  if (subresource === undefined) return resource;
  return { ...resource, ...subresource.of, kind: subresource.kind };
}

/** The answer to what has no object to answer. */
export const succeeded: JsonObject = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
};
