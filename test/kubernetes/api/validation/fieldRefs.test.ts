import { describe, expect, test } from '@jest/globals';
import { validateFieldRef, validateResourceFieldRef } from '../../../../kubernetes/api/validation/fieldRefs.ts';

const BYTES = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';

const problems = (resource: string, divisor?: string) =>
  validateResourceFieldRef({ resource, ...(divisor === undefined ? {} : { divisor }) }, 'ref', false).map(
    ({ path, message }) => `${path}: ${message}`,
  );

describe('C21: a resourceFieldRef', () => {
  test.each([
    ['limits.cpu', '10m', '1m and 1 are supported with the cpu resource'],
    ['limits.cpu', '5n', '1m and 1 are supported with the cpu resource'],
    ['limits.cpu', '01', '1m and 1 are supported with the cpu resource'],
    ['limits.cpu', '1e0', '1m and 1 are supported with the cpu resource'],
    ['limits.memory', '1024', `${BYTES} are supported with the memory resource`],
    ['requests.memory', '3Mi', `${BYTES} are supported with the memory resource`],
    ['limits.ephemeral-storage', '1m', `${BYTES} are supported with the local ephemeral storage resource`],
    ['limits.hugepages-2Mi', '2Mi', `${BYTES} are supported with the hugepages resource`],
  ])('rejects %s in units of %s', (resource, divisor, rule) => {
    expect(problems(resource, divisor)).toEqual([
      `ref.divisor: Invalid value: "${resource}": only divisor's values ${rule}`,
    ]);
  });

  test.each([
    ['limits.cpu', '1000m'],
    ['limits.cpu', '0.001'],
    ['limits.memory', '1.0Ki'],
    ['limits.memory', '1024Ki'],
    ['limits.memory', '0'],
    ['limits.memory', undefined],
    ['requests.hugepages-1Gi', '1Gi'],
  ])('accepts %s in units of %s', (resource, divisor) => {
    expect(problems(resource, divisor)).toEqual([]);
  });

  test.each(['cpu', 'limits.storage', 'limits.example.com/gpu'])('rejects the resource field %s', (resource) => {
    const supported = ['limits', 'requests'].flatMap((kind) =>
      ['cpu', 'ephemeral-storage', 'memory'].map((name) => `"${kind}.${name}"`),
    );
    expect(problems(resource, '7')).toEqual([
      `ref.resource: Unsupported value: "${resource}": supported values: ${supported.join(', ')}`,
    ]);
  });
});

describe('C21: a fieldRef', () => {
  const found = (fieldPath: string, apiVersion = 'v1') =>
    validateFieldRef({ apiVersion, fieldPath }, ['metadata.name'], 'ref').map(
      ({ path, message }) => `${path}: ${message}`,
    );

  test('selects a single label or annotation, or a supported field', () => {
    expect(found('metadata.name')).toEqual([]);
    expect(found("metadata.labels['a/b']")).toEqual([]);
    expect(found("metadata.annotations['A.b/C']")).toEqual([]);
    expect(found("metadata.labels['a b']")[0]).toMatch(/^ref: Invalid value: "a b": name part must consist of/);
    expect(found('metadata.uid')).toEqual([
      'ref.fieldPath: Unsupported value: "metadata.uid": supported values: "metadata.name"',
    ]);
    expect(found("spec.containers['a']")).toEqual([
      `ref.fieldPath: Invalid value: "spec.containers['a']": error converting fieldPath: field label does not support subscript: spec.containers['a']`,
    ]);
    expect(found('metadata.name', 'v2')).toEqual([
      'ref.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ]);
    expect(found('')).toEqual(['ref.fieldPath: Required value']);
  });
});
