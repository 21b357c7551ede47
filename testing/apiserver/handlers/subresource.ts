/** Shared code of the handlers of subresources. */
import type { JsonObject } from '../json.ts';
import type { Resource } from '../resources/resource.ts';
import type { Call } from './call.ts';

/** Returns the kind of a request body. A subresource may have a different kind than its resource. */
export function bodyKind({ target }: Pick<Call, 'target'>): Pick<Resource, 'group' | 'version' | 'kind'> {
  const { resource, subresource } = target;
  if (subresource === undefined) return resource;
  return { ...resource, ...subresource.of, kind: subresource.kind };
}

/** The response to a request that has no resulting object. */
export const successStatus: JsonObject = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
};
