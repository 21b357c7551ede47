import { expect, test } from '@jest/globals';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { isObject, type JsonObject } from '../../../../testing/apiserver/json.ts';
import { Store } from '../../../../testing/apiserver/store/store.ts';
import { watchEvent } from '../../../../testing/apiserver/store/watchEvent.ts';

const object = (name: string, sel: string, more: object = {}) => ({ metadata: { name, labels: { sel } }, ...more });

function selects({ metadata }: JsonObject): boolean {
  const labels = isObject(metadata) ? lookUp(metadata, 'labels') : undefined;
  return isObject(labels) && lookUp(labels, 'sel') === 'yes';
}

/** The expected values are recorded from a kube-apiserver. */
test('a watch receives events for objects that it selects or used to select', () => {
  const store = new Store();
  const events: unknown[] = [];
  store.watch('/configmaps', (change) => {
    const event = watchEvent(change, selects);
    const { name, resourceVersion, labels } = (event?.object.metadata ?? {}) as JsonObject;
    if (event) events.push([event.type, name, resourceVersion, labels]);
  });
  const put = (name: string, sel: string, more?: object) => store.put('/configmaps', object(name, sel, more));
  put('in', 'yes');
  put('out', 'no');
  put('out', 'yes');
  put('in', 'no');
  put('in', 'no', { data: {} });
  put('out', 'yes', { data: {} });
  store.remove('/configmaps', object('out', 'yes'));
  store.remove('/configmaps', object('in', 'no'));
  expect(events).toEqual([
    ['ADDED', 'in', '2', { sel: 'yes' }],
    ['ADDED', 'out', '4', { sel: 'yes' }],
    ['DELETED', 'in', '5', { sel: 'yes' }],
    ['MODIFIED', 'out', '7', { sel: 'yes' }],
    ['DELETED', 'out', '8', { sel: 'yes' }],
  ]);
});
