import { expect, test } from '@jest/globals';
import { targetOf } from '../../../../testing/apiserver/resources/target.ts';

test.each([
  ['/api/v1/pods', 'pods'],
  ['/api/v1/namespaces/default/pods', 'pods in default'],
  ['/api/v1/namespaces/default/pods/web', 'pods in default: web'],
  ['/api/v1/namespaces/default/pods/web/status', 'pods in default: web, status'],
  ['/api/v1/namespaces/a%2fb/pods/%77eb', 'pods in a/b: web'],
  ['/api/v1/namespaces', 'namespaces'],
  ['/api/v1/namespaces/default', 'namespaces: default'],
  ['/api/v1/namespaces/default/status', 'namespaces: default, status'],
  ['/api/v1/nodes/n1/status', 'nodes: n1, status'],
  ['/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1', 'leases in kube-node-lease: n1'],
])('%s addresses %s', (path, expected) => {
  const { resource, namespace, name, subresource } = targetOf(path) ?? {};
  const below = subresource ? `, ${subresource.name}` : '';
  const within = namespace === undefined ? '' : ` in ${namespace}`;
  expect(`${resource?.name}${within}${name === undefined ? '' : `: ${name}`}${below}`).toBe(expected);
});

test.each([
  '/',
  '/api',
  '/api/v1',
  '/api/v2/pods',
  '/apis/nothing.example/v1/things',
  '/api/v1/things',
  '/api/v1/pods/web',
  '/api/v1/pods/',
  '/api/v1/namespaces/default/nodes',
  '/api/v1/namespaces/default/things/x',
  '/api/v1/namespaces/default/pods/web/nothing',
  '/api/v1/namespaces/default/pods/web/status/x',
  '/api/v1/namespaces/default/constructor',
  '/api/v1/namespaces/%zz/pods',
  '/healthz',
])('nothing is served at %s', (path) => expect(targetOf(path)).toBeUndefined());
