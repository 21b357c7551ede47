import { describe, expect, test } from '@jest/globals';
import { readRuntimeClass, validateRuntimeClass, withRuntimeClass } from '../../../kubernetes/api/runtimeClass.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { runtimeClassSchema } from '../../../kubernetes/api/schema/runtimeClass.ts';
import { aPod } from '../fixtures.ts';

const toleration = { key: 'sandboxed', operator: 'Exists' as const, effect: 'NoSchedule' as const };
const runtimeClass = runtimeClassSchema.parse({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'sandboxed' },
  handler: 'runsc',
  overhead: { podFixed: { cpu: '250m', memory: '64Mi' } },
  scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [toleration] },
});
const bare = runtimeClassSchema.parse({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'bare' },
  handler: 'runc',
});
const classes = new Map([
  ['sandboxed', runtimeClass],
  ['bare', bare],
]);
const admitted = (spec: Partial<PodSpec>) => {
  const result = withRuntimeClass(aPod(spec), classes);
  return 'pod' in result ? result.pod.spec : result.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe('C25: a RuntimeClass', () => {
  test('adds its overhead, node selector and tolerations to its pods', () => {
    const own = { key: 'own', operator: 'Exists' as const };
    expect(
      admitted({ runtimeClassName: 'sandboxed', nodeSelector: { disk: 'ssd' }, tolerations: [own] }),
    ).toMatchObject({
      overhead: { cpu: '250m', memory: '64Mi' },
      nodeSelector: { disk: 'ssd', sandbox: 'yes' },
      tolerations: [own, toleration],
    });
  });

  test('accepts equal settings of the pod itself', () => {
    const own = { ...toleration };
    const spec = { overhead: { cpu: '0.25', memory: '65536Ki' }, nodeSelector: { sandbox: 'yes' }, tolerations: [own] };
    expect(admitted({ runtimeClassName: 'sandboxed', ...spec })).toMatchObject({ tolerations: [toleration] });
  });

  test.each<[string, Partial<PodSpec>, string]>([
    [
      'another overhead',
      { overhead: { cpu: '250m' } },
      "spec.overhead: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      'an overhead that its class does not have',
      { runtimeClassName: 'bare', overhead: { cpu: '250m' } },
      'spec.overhead: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'an overhead without a class',
      { runtimeClassName: '', overhead: { cpu: '250m' } },
      'spec.overhead: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'another node',
      { nodeSelector: { sandbox: 'no' } },
      'spec.nodeSelector: conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no',
    ],
  ])('rejects a pod with %s', (_, spec, message) => {
    expect(admitted({ runtimeClassName: 'sandboxed', ...spec })).toEqual([message]);
  });

  test('does not affect pods without a class, and adds nothing that it does not set', () => {
    for (const spec of [{}, { runtimeClassName: '' }, { runtimeClassName: 'bare' }]) {
      expect(admitted(spec)).toEqual(aPod(spec).spec);
    }
  });

  test('that does not exist causes the rejection of its pods', () => {
    expect(admitted({ runtimeClassName: 'late' })).toEqual([
      'spec.runtimeClassName: pod rejected: RuntimeClass "late" not found',
    ]);
  });

  test('is applied once, so that a pod is unaffected when its class changes or is deleted', () => {
    const written = aPod({ runtimeClassName: 'sandboxed', tolerations: [{ key: 'own', operator: 'Exists' }] });
    const first = withRuntimeClass(written, classes);
    if ('problems' in first) throw new Error('it was not admitted');
    const other = { ...runtimeClass, overhead: { podFixed: { cpu: '1' } }, scheduling: { nodeSelector: { a: 'b' } } };
    for (const later of [new Map(), new Map([['sandboxed', other]])]) {
      expect(withRuntimeClass(written, later, first.pod)).toEqual(first);
    }
    const another = { ...first.pod, metadata: { ...first.pod.metadata, uid: 'another' } };
    expect(withRuntimeClass(written, new Map(), another)).toHaveProperty('problems');
    const moved = aPod({ runtimeClassName: 'bare' });
    expect(withRuntimeClass(moved, classes, first.pod)).toEqual({ pod: moved });
  });
});

test('a RuntimeClass is read with zero values for nulls and without unknown fields, and validated as by an API server', () => {
  const nulls = { metadata: { name: 'a' }, handler: null, scheduling: { nodeSelector: { disk: null } }, overhaed: {} };
  const read = readRuntimeClass({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', ...nulls });
  expect(read).toMatchObject({
    object: { handler: '', scheduling: { nodeSelector: { disk: '' } } },
    warnings: [{ path: 'overhaed', message: 'unknown field, did you mean "overhead"?' }],
  });
  const problems = 'object' in read ? validateRuntimeClass(read.object) : [];
  expect(problems).toEqual([{ path: 'handler', message: 'Required value' }]);
});
