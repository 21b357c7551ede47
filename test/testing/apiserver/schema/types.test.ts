import { expect, test } from '@jest/globals';
import { readTypes, Types } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();
const pod = types.kind('', 'v1', 'Pod');

test('a kind is found only by its own group, version and name', () => {
  expect(pod?.name).toBe('io.k8s.api.core.v1.Pod');
  expect(types.kind('coordination.k8s.io', 'v1', 'Lease')?.fields).toContain('spec');
  expect(types.kind('', 'v1', 'Event')).not.toBe(types.kind('events.k8s.io', 'v1', 'Event'));
  expect(types.kind('', 'v1', 'constructor')).toBeUndefined();
  expect(types.kind('apps', 'v1', 'Deployment')).toBeUndefined();
});

test('lists of a pod are merged by their merge keys', () => {
  const spec = pod?.field('spec')?.type;
  const of = spec?.kind === 'object' ? spec.of : undefined;
  const keys = ['containers', 'volumes', 'tolerations', 'hostAliases'].map((name) => {
    const { merges, mergeKey } = of?.field(name) ?? {};
    return [name, merges, mergeKey];
  });
  expect(keys).toEqual([
    ['containers', true, 'name'],
    ['volumes', true, 'name'],
    ['tolerations', false, undefined],
    ['hostAliases', true, 'ip'],
  ]);
  expect(of?.field('constructor')).toBeUndefined();
  expect(of?.field('containers')).toBe(of?.field('containers'));
});

test('a type describes the types of its fields', () => {
  const customTypes = new Types(
    new Map([
      [
        'a',
        {
          fields: {
            text: { type: 'string' },
            data: { type: 'object', values: { type: 'string', format: 'byte' } },
            cpu: { ref: 'io.k8s.apimachinery.pkg.api.resource.Quantity' },
            at: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time' },
            others: { type: 'array', items: { ref: 'a' } },
            open: {},
          },
        },
      ],
    ]),
  );
  const a = customTypes.named('a');
  expect(a.fields.map((name) => a.field(name)?.type)).toEqual([
    { kind: 'string' },
    { kind: 'map', values: { kind: 'bytes' } },
    { kind: 'quantity' },
    { kind: 'time' },
    { kind: 'list', items: { kind: 'object', of: a } },
    { kind: 'any' },
  ]);
  expect(customTypes.named('none').fields).toEqual([]);
});
