/** Rejects objects in a namespace that is missing or being deleted (`admission/plugin/namespace/lifecycle`). */
import { forbidden, notFound } from '../failures/failures.ts';
import { resourceNamed } from '../resources/resources.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Plugin } from './plugin.ts';

/** Namespaces that cannot be deleted. */
const UNDELETABLE: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceLifecycle: Plugin = ({
  target: { resource, namespace, name = '' },
  object,
  before,
  registry,
}) => {
  if (object === undefined && resource.name === 'namespaces' && UNDELETABLE.has(name))
    throw forbidden(resource, name, 'this namespace may not be deleted');
  const namespaces = resourceNamed('', 'v1', 'namespaces');
  if (namespaces === undefined || namespace === undefined || object === undefined || before !== undefined)
    return undefined;
  const found = registry.store.get('/namespaces', undefined, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (metadataOf(found).deletionTimestamp === undefined) return undefined;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(resource, metadataOf(object).name ?? '', why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
};
