import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findByName, findByUid, withItem, withoutItem } from '../../../machines/admission/indexed.ts';

interface Item {
  readonly uid: string;
  readonly fullName: string;
  readonly version?: number;
}

const anItem = fc.record({
  uid: fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__'),
  fullName: fc.constantFrom('default/x', 'default/y', '__proto__'),
  version: fc.nat(3),
});

test('an item with the same UID is replaced, and a new one is appended', () => {
  const [a, b] = [
    { uid: 'a', fullName: 'x' },
    { uid: 'b', fullName: 'y' },
  ];
  const list = withItem(withItem<Item>([], a), b);
  expect(withItem(list, { uid: 'a', fullName: 'z' })).toEqual([{ uid: 'a', fullName: 'z' }, b]);
  expect(withoutItem(list, 'a')).toEqual([b]);
  expect(withoutItem(list, 'nobody')).toBe(list);
});

test('exactly the items of the list are found by UID and name after any changes', () => {
  const change = fc.record({ item: anItem, isDropped: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      let list: readonly Item[] = [];
      for (const { item, isDropped } of changes) {
        const before = list;
        const copy = [...list];
        list = isDropped ? withoutItem(list, item.uid) : withItem(list, item);
        expect(before).toEqual(copy);
        for (const { uid, fullName } of [...copy, item]) {
          expect(findByUid(list, uid)).toBe(list.find((each) => each.uid === uid));
          const those = list.filter((each) => each.fullName === fullName);
          expect(new Set(findByName(list, fullName))).toEqual(new Set(those));
        }
      }
    }),
  );
});

test('items are found in earlier and deserialized lists as well', () => {
  const one = withItem<Item>([], { uid: 'a', fullName: 'x' });
  withItem(one, { uid: 'b', fullName: 'x' });
  expect([findByUid(one, 'b'), findByName(one, 'x')]).toEqual([undefined, [{ uid: 'a', fullName: 'x' }]]);
  const revived: readonly Item[] = JSON.parse(JSON.stringify(one));
  expect(findByUid(revived, 'a')).toBe(revived[0]);
});
