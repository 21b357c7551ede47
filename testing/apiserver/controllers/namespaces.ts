/**
 * Creates the default objects of a namespace and empties a deleted one (`pkg/controller/{serviceaccount,namespace}` of
 * kubernetes).
 */
import { type JsonObject, textAt } from '../json.ts';
import { statusOf } from '../registry/strategies/parts.ts';
import { groupVersion, type Resource, storedAs } from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Store } from '../store/store.ts';
import type { Controller, Write } from './controller.ts';

const NAMESPACED = resources.filter(({ isNamespaced, verbs }) => isNamespaced && verbs.includes('deletecollection'));
const ACCOUNT = 'default';
const ROOT_CA = 'kube-root-ca.crt';

/** `authority` is the CA certificate of the server in PEM. */
export const namespaceController = (authority: string): Controller => ({
  user: 'system:serviceaccount:kube-system:namespace-controller',
  resources: ['/namespaces', ...new Set(NAMESPACED.map(storedAs))],
  reconcile: async (store, write) => {
    for (const [, namespace] of store.list('/namespaces')) {
      const name = metadataOf(namespace).name ?? '';
      if (textAt(statusOf(namespace), 'phase') === 'Terminating') await emptyNamespace(name, namespace, store, write);
      else await createDefaults(name, store, write, authority);
    }
  },
});

async function createDefaults(namespace: string, store: Store, write: Write, authority: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}`;
  if (store.get('/serviceaccounts', namespace, ACCOUNT) === undefined)
    await write('POST', `${path}/serviceaccounts`, { metadata: { name: ACCOUNT } });
  if (store.get('/configmaps', namespace, ROOT_CA) === undefined)
    await write('POST', `${path}/configmaps`, { metadata: { name: ROOT_CA }, data: { 'ca.crt': authority } });
}

/**
 * Deletes the objects of a terminating namespace. Removes the finalizer once no objects are left, because pods take a
 * while to terminate.
 */
async function emptyNamespace(name: string, namespace: JsonObject, store: Store, write: Write): Promise<void> {
  const left = NAMESPACED.flatMap((resource) =>
    store.list(storedAs(resource)).flatMap(([, object]) => {
      const metadata = metadataOf(object);
      return metadata.namespace === name ? [{ resource, isGoing: metadata.deletionTimestamp !== undefined }] : [];
    }),
  );
  const resourcesToDelete = new Set(left.filter(({ isGoing }) => !isGoing).map(({ resource }) => resource));
  for (const resource of resourcesToDelete) await write('DELETE', collectionPath(resource, name));
  if (left.length === 0)
    await write('PUT', `/api/v1/namespaces/${name}/finalize`, { ...namespace, spec: { finalizers: [] } });
}

const collectionPath = (resource: Resource, namespace: string): string =>
  `${resource.group === '' ? '/api' : '/apis'}/${groupVersion(resource)}/namespaces/${namespace}/${resource.name}`;
