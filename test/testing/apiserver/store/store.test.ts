import { expect, test } from '@jest/globals';
import { type Change, Store } from '../../../../testing/apiserver/store/store.ts';

const object = (name: string, more: object = {}) => ({ metadata: { name, namespace: 'default' }, ...more });
const names = (store: Store, revision?: number) => store.list('/configmaps', revision).map(([key]) => key);

test('each write increments the global revision, unless it changes nothing', () => {
  const store = new Store();
  const before = store.revision;
  const created = store.put('/configmaps', object('a', { data: { k: 'v' } }));
  expect(created).toEqual({
    metadata: { name: 'a', namespace: 'default', resourceVersion: String(before + 1) },
    data: { k: 'v' },
  });
  expect(store.put('/configmaps', object('a', { data: { k: 'v' } }))).toBe(created);
  store.put('/secrets', object('a'));
  expect(store.put('/configmaps', object('a', { data: { k: 'w' } })).metadata).toMatchObject({
    resourceVersion: String(before + 3),
  });
  expect(store.get('/configmaps', 'default', 'a')).toMatchObject({ data: { k: 'w' } });
  expect(store.get('/configmaps', 'other', 'a')).toBeUndefined();
  expect(store.get('/configmaps', 'default', 'constructor')).toBeUndefined();
  expect(store.revision).toBe(before + 3);
});

test('a list is sorted, and can be read at an earlier revision', () => {
  const store = new Store();
  for (const name of ['b', 'a']) store.put('/configmaps', object(name));
  const then = store.revision;
  store.put('/configmaps', object('c'));
  store.remove('/configmaps', object('a'));
  store.put('/configmaps', object('b', { data: {} }));
  expect(names(store)).toEqual(['default/b', 'default/c']);
  expect(names(store, then)).toEqual(['default/a', 'default/b']);
  expect(store.list('/configmaps', then)[1]?.[1]).not.toHaveProperty('data');
});

test('a watch receives every change of its resource until it is closed', () => {
  const store = new Store();
  const changes: Change[] = [];
  const stop = store.watch('/pods', (change) => changes.push(change));
  store.put('/pods', object('a'));
  store.put('/configmaps', object('a'));
  store.put('/pods', object('a', { spec: {} }));
  const gone = store.remove('/pods', object('a', { spec: {} }));
  stop();
  store.put('/pods', object('b'));
  expect(changes.map(({ type, revision }) => [type, revision])).toEqual([
    ['ADDED', 2],
    ['MODIFIED', 4],
    ['DELETED', 5],
  ]);
  expect(changes.map(({ before }) => before?.metadata)).toEqual([
    undefined,
    { name: 'a', namespace: 'default', resourceVersion: '2' },
    { name: 'a', namespace: 'default', resourceVersion: '4' },
  ]);
  expect(gone.metadata).toMatchObject({ resourceVersion: '5' });
});

test('the changes since a revision are known until they are compacted', () => {
  const store = new Store();
  store.put('/pods', object('a'));
  const then = store.revision;
  store.put('/pods', object('b'));
  expect(store.changesSince('/pods', then)?.map(({ object: { metadata } }) => metadata)).toMatchObject([{ name: 'b' }]);
  store.compact();
  expect(store.changesSince('/pods', then)).toBeUndefined();
  expect(store.changesSince('/pods', store.revision)).toEqual([]);
  expect(store.listAt('/pods', store.revision)).toBeDefined();
});
