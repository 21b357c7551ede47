import { expect, test } from '@jest/globals';
import { attributesOf } from '../../../../testing/apiserver/authorization/attributes.ts';
import { type Grant, isGranted, kubeletApiAdmin } from '../../../../testing/apiserver/authorization/grants.ts';

const ALICE = { name: 'alice', groups: ['operators'] };
const url = (path: string) => new URL(path, 'https://localhost');
const may = (grant: Omit<Grant, 'to'>, method: string, path: string, to = 'operators') =>
  isGranted(ALICE, attributesOf(method, url(path)), [{ to, ...grant }]);

test.each([
  [{ verbs: ['get'], resources: ['pods'] }, 'GET', '/api/v1/namespaces/a/pods/p', true],
  [{ verbs: ['get'], resources: ['pods'] }, 'GET', '/api/v1/namespaces/a/pods', false],
  [{ verbs: ['get'], resources: ['pods'] }, 'GET', '/api/v1/namespaces/a/pods/p/log', false],
  [{ verbs: ['*'], resources: ['pods/log'] }, 'GET', '/api/v1/namespaces/a/pods/p/log', true],
  [{ verbs: ['*'], resources: ['pods/*'] }, 'POST', '/api/v1/namespaces/a/pods/p/exec', true],
  [{ verbs: ['*'], resources: ['pods/*'] }, 'DELETE', '/api/v1/namespaces/a/pods/p', false],
  [{ verbs: ['*'], resources: ['*'] }, 'DELETE', '/api/v1/namespaces/a/pods/p', true],
  [{ verbs: ['*'], resources: ['*'] }, 'GET', '/apis/policy/v1/poddisruptionbudgets', false],
  [{ verbs: ['*'], resources: ['*'], group: 'policy' }, 'GET', '/apis/policy/v1/poddisruptionbudgets', true],
  [{ verbs: ['*'], resources: ['pods'], namespace: 'a' }, 'GET', '/api/v1/namespaces/a/pods', true],
  [{ verbs: ['*'], resources: ['pods'], namespace: 'a' }, 'GET', '/api/v1/namespaces/b/pods', false],
  [{ verbs: ['*'], resources: ['pods'], namespace: 'a' }, 'GET', '/api/v1/pods', false],
  [{ verbs: ['*'], resources: ['nodes/proxy'], names: ['n1'] }, 'GET', '/api/v1/nodes/n1/proxy', true],
  [{ verbs: ['*'], resources: ['nodes/proxy'], names: ['n1'] }, 'GET', '/api/v1/nodes/n2/proxy', false],
  [{ verbs: ['get'], paths: ['/metrics', '/debug/*'] }, 'GET', '/debug/pprof', true],
  [{ verbs: ['get'], paths: ['/metrics', '/debug/*'] }, 'GET', '/metrics/more', false],
  [{ verbs: ['get'], paths: ['/metrics'] }, 'POST', '/metrics', false],
] as const)('the grant %j allows %s %s: %s', (grant, method, path, isAllowed) => {
  expect(may(grant, method, path)).toBe(isAllowed);
  expect(may(grant, method, path, 'alice')).toBe(isAllowed);
  expect(may(grant, method, path, 'others')).toBe(false);
});

test('by default, only the user kubelet-api-admin has access to the node API, and may not delete nodes', () => {
  const admin = { name: 'system:kubelet-api-admin', groups: [] };
  const node = { group: '', resource: 'nodes', namespace: '', name: 'n1', fieldSelector: new Map<string, string>() };
  const mayDo = (verb: string, subresource: string) =>
    isGranted(admin, { ...node, verb, subresource }, kubeletApiAdmin);
  for (const subresource of ['proxy', 'metrics', 'stats', 'log', 'pods', 'healthz', 'configz'])
    expect([mayDo('get', subresource), mayDo('create', subresource)]).toEqual([true, true]);
  expect([mayDo('get', ''), mayDo('delete', ''), mayDo('get', 'checkpoint')]).toEqual([true, false, false]);
  expect(isGranted(ALICE, { ...node, verb: 'get', subresource: 'proxy' }, kubeletApiAdmin)).toBe(false);
});
