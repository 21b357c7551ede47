import { expect, test } from '@jest/globals';
import { readConfig } from '../../../kubernetes/objects/configObject.ts';

test('nulls in the data of a ConfigMap become empty strings, and no key is lost', () => {
  const data = JSON.parse('{ "__proto__": "p", "none": null, "text": "t" }');
  const read = readConfig('ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
  expect(read).toMatchObject({
    config: {
      entries: [
        { field: 'data', key: '__proto__', value: 'p' },
        { field: 'data', key: 'none', value: '' },
        { field: 'data', key: 'text', value: 't' },
      ],
    },
    warnings: [],
  });
});
