import { expect, test } from '@jest/globals';
import { discovery } from '../../../../testing/apiserver/discovery/discovery.ts';

const at = (path: string) => discovery(path, '127.0.0.1:6443');

/** The expected values are recorded from a kube-apiserver. */
test('discovery lists the versions of the core API and of each group', () => {
  expect(at('/api')).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  });
  const version = { groupVersion: 'coordination.k8s.io/v1', version: 'v1' };
  const group = { name: 'coordination.k8s.io', versions: [version], preferredVersion: version };
  expect(at('/apis/coordination.k8s.io')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group });
  expect(at('/apis')).toMatchObject({ kind: 'APIGroupList', groups: expect.arrayContaining([group]) });
});

test('discovery lists the resources of a version with their verbs, and subresources with their own', () => {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  expect(at('/apis/coordination.k8s.io/v1')).toEqual({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'coordination.k8s.io/v1',
    resources: [
      {
        name: 'leases',
        singularName: 'lease',
        namespaced: true,
        kind: 'Lease',
        verbs,
        storageVersionHash: 'gqkMMb/YqFM=',
      },
    ],
  });
  expect(at('/api/v1')).toMatchObject({
    groupVersion: 'v1',
    resources: expect.arrayContaining([
      { name: 'bindings', singularName: 'binding', namespaced: true, kind: 'Binding', verbs: ['create'] },
      expect.objectContaining({ name: 'namespaces', verbs: verbs.filter((verb) => verb !== 'deletecollection') }),
      expect.objectContaining({ name: 'pods', shortNames: ['po'], categories: ['all'] }),
      { name: 'pods/status', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get', 'patch', 'update'] },
      {
        name: 'pods/eviction',
        singularName: '',
        namespaced: true,
        kind: 'Eviction',
        verbs: ['create'],
        group: 'policy',
        version: 'v1',
      },
    ]),
  });
});

test.each(['/', '/api/v2', '/apis/nothing.example', '/apis/apps/v1', '/apis/constructor', '/api/v1/pods', '/healthz'])(
  'discovery serves nothing at %s',
  (path) => expect(at(path)).toBeUndefined(),
);
