/** Deletes objects and collections (`endpoints/handlers/delete.go` of apiserver). */
import type { JsonObject } from '../json.ts';
import { deleteOptions } from '../options/deleteOptions.ts';
import { listOptions } from '../options/listOptions.ts';
import { deleteObject } from '../registry/deletion.ts';
import type { Outcome } from '../requests/request.ts';
import { type Resource, storedAs } from '../resources/resource.ts';
import { selectorOf } from '../selection/selector.ts';
import { metadataOf } from '../store/metadata.ts';
import { type Call, locationOf } from './call.ts';
import { listOf, selectedObjects } from './read.ts';

export function remove(call: Call): Outcome {
  const { registry, strategy, target, user } = call;
  const options = deleteOptions(call.query, call.body, call.types);
  const location = locationOf(call);
  call.admission({ target, user, object: undefined, before: registry.get(location), registry });
  const { object, isGone } = deleteObject(registry, location, { ...options, strategy });
  const answer = isGone && !strategy.returnsDeleted ? deletedStatus(target.resource, object) : object;
  return { code: 200, object: answer, warnings: [] };
}

function deletedStatus({ group, name: kind }: Resource, object: JsonObject): JsonObject {
  const { name = '', uid = '' } = metadataOf(object);
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind, uid },
  };
}

export function removeAll(call: Call): Outcome {
  const { registry, strategy, target } = call;
  const { resource } = target;
  const options = deleteOptions(new URLSearchParams(call.query), call.body, call.types);
  const selects = selectorOf(listOptions(call.query), strategy);
  // The response contains the objects as they were before the deletion.
  const there = selectedObjects(call, registry.store.list(storedAs(resource)), selects);
  for (const object of there) {
    const { namespace, name = '' } = metadataOf(object);
    deleteObject(registry, { resource, namespace, name }, { ...options, strategy });
  }
  return { code: 200, object: listOf(call, there, { resourceVersion: String(registry.store.revision) }), warnings: [] };
}
