/** Serves the resource metrics API like metrics-server (`pkg/api` of metrics-server). */
import { goDuration } from '../../../base/time/duration.ts';
import { formatQuantity } from '../../../kubernetes/api/values/quantity.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { notFound } from '../failures/failures.ts';
import type { Call } from '../handlers/call.ts';
import { isInTarget, listOf } from '../handlers/read.ts';
import { type JsonObject, objectAt } from '../json.ts';
import { listOptions } from '../options/listOptions.ts';
import type { Outcome } from '../requests/request.ts';
import { resourceNamed } from '../resources/resources.ts';
import { selectorOf } from '../selection/selector.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Usage } from './usageHistory.ts';

export const METRICS_GROUP = 'metrics.k8s.io';

/** The handlers of the metrics API by verb. */
export const metricsHandlers: ReadonlyMap<string, (call: Call) => Outcome> = new Map([
  ['get', getMetrics],
  ['list', listMetrics],
]);

function getMetrics(call: Call): Outcome {
  const { resource, namespace, name = '' } = call.target;
  const about = resourceNamed('', 'v1', resource.name) ?? resource;
  const object = call.registry.store.get(`/${resource.name}`, namespace, name);
  if (object === undefined) throw notFound(about, name);
  const metrics = metricsOf(object, call);
  if (metrics !== undefined) return { code: 200, object: metrics, warnings: [] };
  throw notFound(
    { ...resource, name: resource.kind.toLowerCase() },
    resource.isNamespaced ? `${namespace}/${name}` : name,
  );
}

/** Lists the metrics of the selected objects. Objects without metrics are omitted. */
function listMetrics(call: Call): Outcome {
  const selects = selectorOf(listOptions(call.query), call.strategy);
  const all = call.registry.store.list(`/${call.target.resource.name}`).map(([, object]) => object);
  const chosen = all.filter((object) => isInTarget(call, object) && selects(object));
  const items = chosen.map((object) => metricsOf(object, call)).filter((each) => each !== undefined);
  return { code: 200, object: listOf(call, items, {}), warnings: [] };
}

function metricsOf(object: JsonObject, call: Call): JsonObject | undefined {
  const { name = '', namespace = '' } = metadataOf(object);
  const { usages, registry, target } = call;
  if (!target.resource.isNamespaced) {
    const usage = usages.ofNode(name);
    return usage && { ...headOf(object, call), ...timesOf(usage), usage: usageQuantities(usage) };
  }
  const containers = [...(usages.ofPod(namespace, name) ?? [])];
  const earliest = containers.map(([, usage]) => usage).toSorted((some, other) => some.at - other.at)[0];
  if (earliest === undefined) return undefined;
  const containerMetrics = containers.map(([container, usage]) => ({ name: container, usage: usageQuantities(usage) }));
  return { ...headOf(object, { target, registry }), ...timesOf(earliest), containers: containerMetrics };
}

function headOf(object: JsonObject, { target: { resource }, registry }: Pick<Call, 'target' | 'registry'>): JsonObject {
  const { name = '', namespace } = metadataOf(object);
  const labels = objectAt(objectAt(object, 'metadata'), 'labels');
  return {
    kind: resource.kind,
    apiVersion: `${resource.group}/${resource.version}`,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: rfc3339(registry.clock.now()),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
    },
  };
}

const timesOf = ({ at, windowMs }: Usage): JsonObject => ({ timestamp: rfc3339(at), window: goDuration(windowMs) });

const NANOS = 1_000_000_000n;

const usageQuantities = ({ cpuNanos, memory }: Usage): JsonObject => ({
  cpu: formatQuantity(BigInt(cpuNanos)),
  memory: formatQuantity(BigInt(memory) * NANOS, 'binary'),
});
