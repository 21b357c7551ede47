import { expect, test } from '@jest/globals';
import { ambiguityMessage, findPodsByName, haveDuplicateNames } from '../../../show/tables/podsByName.ts';
import { podView } from '../../kubernetes/views.ts';

const pod = (name: string, namespace = 'default', uid = `${namespace}-${name}-uid`) =>
  podView({ main: {}, meta: { name, namespace, uid }, spec: { nodeName: 'host' } }).pod;
const pods = [pod('web-host'), pod('web'), pod('db-host'), pod('db-host', 'shop')];
const called = (name: string) =>
  findPodsByName(name, pods).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

test('a pod with the exact name takes precedence over one whose manifest has the name', () => {
  expect(called('web')).toEqual(['default/web']);
  expect(called('web-host')).toEqual(['default/web-host']);
});

test('C24: the name in a manifest has no node suffix, and several namespaces may have it', () => {
  expect(called('db')).toEqual(['default/db-host', 'shop/db-host']);
  expect(called('d')).toEqual([]);
});

test('a UID matches if no pod has such a name', () => {
  expect(called('shop-db-host-uid')).toEqual(['shop/db-host']);
  expect(findPodsByName('web', [pod('db', 'default', 'web'), pod('web')])).toMatchObject([
    { metadata: { name: 'web' } },
  ]);
});

test('an ambiguous name is reported with a hint to use the namespace or the UID', () => {
  const [old, again] = [pod('web-host', 'default', 'u1'), pod('web-host', 'default', 'u2')];
  const ending = { ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const running = { ...again, status: { phase: 'Running' as const } };
  expect(ambiguityMessage([ending, running])).toBe(
    'ambiguous: there are 2 pods default/web-host: choose one by its UID, pod/u1 (Terminating) or pod/u2 (Running)',
  );
  expect(ambiguityMessage([again, pod('web-host', 'shop')])).toBe(
    'ambiguous: default/web-host and shop/web-host: choose one with -n, --namespace',
  );
  expect([ambiguityMessage([again]), ambiguityMessage([])]).toEqual([undefined, undefined]);
  expect([haveDuplicateNames([ending, running]), haveDuplicateNames(pods)]).toEqual([true, false]);
});
