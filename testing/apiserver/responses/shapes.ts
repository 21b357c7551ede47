/** Converts objects to the requested shape. */
import { lookUp } from '../../../base/values/lookUp.ts';
import type { Call } from '../handlers/call.ts';
import { isList, isObject, type JsonObject, objectAt, objectOf, textAt } from '../json.ts';
import { type IncludeObject, type TableInput, tableOf } from '../tables/table.ts';
import type { Representation } from './negotiation.ts';

type ShapeContext = Pick<Call, 'query' | 'registry' | 'strategy' | 'target'>;

/** Returns a stored object or list in the requested shape. */
export function shapeObject(object: JsonObject, call: ShapeContext, { as, version }: Representation): JsonObject {
  const kind = textAt(object, 'kind');
  if (kind === 'Status') return object;
  if (as === 'table') return tableOf(object, tableInput(call, version));
  return as === 'metadata' ? metadataOnly(object, version) : toVersion(object, call.strategy);
}

const INCLUDES: readonly IncludeObject[] = ['None', 'Metadata', 'Object'];

function tableInput(
  { query, registry, strategy, target }: ShapeContext,
  version: Representation['version'],
): TableInput {
  const include = INCLUDES.find((each) => each === query.get('includeObject')) ?? 'Metadata';
  return { kind: target.resource.kind, version, include, now: registry.clock.now(), shown: strategy.toVersion };
}

function toVersion(object: JsonObject, strategy: Call['strategy']): JsonObject {
  const items = lookUp(object, 'items');
  if (!isList(items) || !textAt(object, 'kind').endsWith('List')) return strategy.toVersion(object);
  return { ...object, items: items.map((each) => (isObject(each) ? withoutKind(strategy.toVersion(each)) : each)) };
}

/** List entries have no kind and version. */
const withoutKind = (object: JsonObject): JsonObject =>
  objectOf(Object.entries(object).filter(([name]) => name !== 'kind' && name !== 'apiVersion'));

function metadataOnly(object: JsonObject, version: Representation['version']): JsonObject {
  const apiVersion = `meta.k8s.io/${version}`;
  const partial = (each: JsonObject): JsonObject => ({
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: objectAt(each, 'metadata'),
  });
  const items = lookUp(object, 'items');
  if (!isList(items) || !textAt(object, 'kind').endsWith('List')) return partial(object);
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion,
    metadata: objectAt(object, 'metadata'),
    items: items.map((each) => (isObject(each) ? partial(each) : each)),
  };
}
