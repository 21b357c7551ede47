import { expect, test } from '@jest/globals';
import { isRelatedToNode } from '../../../../testing/apiserver/authorization/nodeObjects.ts';
import { Store } from '../../../../testing/apiserver/store/store.ts';

const store = new Store();
const put = (namespace: string, name: string, nodeName: string) =>
  store.put('/pods', { metadata: { namespace, name }, spec: { nodeName } });
put('shop', 'web', 'n1');
put('other', 'db', 'n2');

test.each([
  ['shop', 'web', true],
  ['other', 'web', false],
  ['other', 'db', false],
  ['shop', 'constructor', false],
  // Every pod has a namespace.
  ['', 'web', false],
])('a pod in namespace "%s" named %s belongs to the node: %s', (namespace, name, isIts) => {
  expect(isRelatedToNode('n1', { resource: 'pods', namespace, name }, store)).toBe(isIts);
});
