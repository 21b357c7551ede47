import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { statusPatch } from '../../../kubernetes/status/statusPatch.ts';
import type { JsonObject } from '../../../testing/apiserver/json.ts';
import { strategicPatch } from '../../../testing/apiserver/patch/strategicPatch.ts';
import { readTypes } from '../../../testing/apiserver/schema/types.ts';

const STATUS = readTypes().named('io.k8s.api.core.v1.PodStatus');

/** Applies the patch between two statuses like an API server. */
function afterPatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch = statusPatch(before, after);
  return patch === undefined ? before : strategicPatch(before, JSON.parse(JSON.stringify(patch)), STATUS);
}

test('a patch contains only changed IPs and conditions, but all container statuses', () => {
  const [main, side] = [
    { name: 'main', ready: false },
    { name: 'side', ready: true },
  ];
  const before = {
    podIPs: [{ ip: '10.0.0.1' }],
    hostIPs: [{ ip: '192.0.2.1' }],
    containerStatuses: [main, side],
    conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
  };
  const after = {
    podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    hostIPs: [{ ip: '192.0.2.1' }],
    containerStatuses: [{ ...main, ready: true }, side],
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  expect(statusPatch(before, after)).toEqual({
    '$setElementOrder/podIPs': [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    podIPs: [{ ip: 'fd00::1' }],
    containerStatuses: after.containerStatuses,
    '$setElementOrder/conditions': [{ type: 'Ready' }],
    conditions: [{ type: 'Ready', status: 'True', reason: null }],
  });
});

test('a patch turns any status into any other when applied by an API server', () => {
  const word = fc.constantFrom('a', 'b', 'c');
  const listBy = (key: string, more: fc.Arbitrary<object>) =>
    fc
      .uniqueArray(fc.tuple(word, more), { selector: ([name]) => name })
      .map((entries) => entries.map(([name, fields]) => ({ [key]: name, ...fields })));
  const condition = fc.record({ status: word, reason: word, lastProbeTime: fc.constant(null) }, { requiredKeys: [] });
  const status = fc.record(
    {
      phase: word,
      podIP: word,
      conditions: listBy('type', condition),
      podIPs: listBy('ip', fc.constant({})),
      containerStatuses: listBy('name', fc.record({ ready: fc.boolean(), restartCount: fc.nat(2) })),
    },
    { requiredKeys: [] },
  );
  /** Treats null and undefined alike, and a missing list like an empty one. Conditions can be in any order. */
  const plain = (value: object) =>
    Object.entries(value).flatMap(([name, each]) => {
      if (Array.isArray(each) && each.length === 0) return [];
      const isSet = name === 'conditions' || name === 'podIPs';
      const lines = isSet ? each.map((one: object) => JSON.stringify(withoutNulls(one))).sort() : each;
      return [[name, lines]];
    });
  fc.assert(
    fc.property(status, status, (before, after) => {
      const [had, has]: JsonObject[] = JSON.parse(JSON.stringify([before, after]));
      const made = afterPatch(had ?? {}, has ?? {});
      expect(Object.fromEntries(plain(made))).toEqual(Object.fromEntries(plain(has ?? {})));
    }),
  );
});

const withoutNulls = (object: object) =>
  Object.entries(object)
    .filter(([, value]) => value !== null)
    .sort(([one], [other]) => (one < other ? -1 : 1));
