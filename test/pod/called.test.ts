import { expect, test } from '@jest/globals';
import { podsCalled } from '../../pod/called.ts';
import { podView } from './views.ts';

const pod = (name: string, namespace = 'default') =>
  podView({ main: {}, meta: { name, namespace }, spec: { nodeName: 'host' } }).pod;
const pods = [pod('web-host'), pod('web'), pod('db-host'), pod('db-host', 'shop')];
const called = (name: string) => podsCalled(name, pods).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

test('a pod of the very name comes before one whose manifest has it', () => {
  expect(called('web')).toEqual(['default/web']);
  expect(called('web-host')).toEqual(['default/web-host']);
});

test('C24: the name in a manifest lacks the node; several namespaces may have it', () => {
  expect(called('db')).toEqual(['default/db-host', 'shop/db-host']);
  expect(called('d')).toEqual([]);
});
