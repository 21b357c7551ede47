/** Binds a pod to a node (`registry/core/pod/storage` of kubernetes). */
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { badRequest, conflict, internalError } from '../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../json.ts';
import { writeOptions } from '../options/writeOptions.ts';
import { listAt, objectsAt, specOf, statusOf, withFields } from '../registry/strategies/parts.ts';
import { readObject } from '../requests/body.ts';
import type { Outcome } from '../requests/request.ts';
import { metadataOf, withMetadata } from '../store/metadata.ts';
import { type Call, locationOf, writeOptionsOf } from './call.ts';
import { bodyKind, successStatus } from './subresource.ts';

export function bind(call: Call): Outcome {
  const { isDryRun, fieldValidation } = writeOptions(call.query, 'CreateOptions');
  const { object: binding, warnings } = readObject(call.body, bodyKind(call), call.types, fieldValidation);
  const location = locationOf(call);
  if (metadataOf(binding).name !== location.name) throw badRequest('name in URL does not match name in Binding object');
  const node = textAt(objectAt(binding, 'target'), 'name');
  if (node === '') throw internalError('target.name: Required value');
  const { uid } = metadataOf(binding);
  call.registry.update(location, (pod = {}) => boundPod(pod, binding, node, call.registry.clock.now()), {
    ...writeOptionsOf(call, isDryRun),
    strategy: { ...call.strategy, updated: (pod) => pod, updateCauses: () => [] },
    uid,
  });
  return { code: 201, object: successStatus, warnings };
}

function boundPod(pod: JsonObject, binding: JsonObject, node: string, now: number): JsonObject {
  const { name = '', deletionTimestamp } = metadataOf(pod);
  const spec = specOf(pod);
  const had = textAt(spec, 'nodeName');
  const refused = (why: string) => conflict({ group: '', name: 'pods/binding', kind: 'Binding' }, name, why);
  if (deletionTimestamp !== undefined) throw refused(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (had !== '') throw refused(`pod ${name} is already assigned to node ${JSON.stringify(had)}`);
  if (listAt(spec, 'schedulingGates').length > 0) throw refused(`pod ${name} has non-empty .spec.schedulingGates`);
  const merged = withMetadata(pod, {
    ...mergedField(pod, binding, 'labels'),
    ...mergedField(pod, binding, 'annotations'),
  });
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: rfc3339(now) };
  const status = statusOf(pod);
  const conditions = objectsAt(status, 'conditions').filter((each) => textAt(each, 'type') !== scheduled.type);
  return {
    ...merged,
    spec: { ...spec, nodeName: node },
    status: withFields(status, { conditions: [...conditions, scheduled], nominatedNodeName: undefined }),
  };
}

function mergedField(pod: JsonObject, binding: JsonObject, field: 'labels' | 'annotations'): JsonObject {
  const more = objectAt(objectAt(binding, 'metadata'), field);
  return Object.keys(more).length === 0 ? {} : { [field]: { ...objectAt(objectAt(pod, 'metadata'), field), ...more } };
}
