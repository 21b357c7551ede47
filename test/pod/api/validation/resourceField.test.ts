import { describe, expect, test } from '@jest/globals';
import { validateResourceField } from '../../../../pod/api/validation/resourceField.ts';

const BYTES = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';

const problems = (resource: string, divisor?: string) =>
  validateResourceField({ resource, ...(divisor === undefined ? {} : { divisor }) }, 'ref', 'is none').map(
    ({ path, message }) => `${path}: ${message}`,
  );

describe('C21: a resourceFieldRef', () => {
  test.each([
    ['limits.cpu', '10m', '1m and 1 are supported with the cpu resource'],
    ['requests.memory', '3Mi', `${BYTES} are supported with the memory resource`],
    ['limits.ephemeral-storage', '1m', `${BYTES} are supported with the local ephemeral storage resource`],
    ['limits.hugepages-2Mi', '2Mi', `${BYTES} are supported with the hugepages resource`],
  ])('%s in units of %s is refused', (resource, divisor, rule) => {
    expect(problems(resource, divisor)).toEqual([
      `ref.divisor: Invalid value: "${resource}": only divisor's values ${rule}`,
    ]);
  });

  test.each([
    ['limits.cpu', '1000m'],
    ['limits.memory', '1024Ki'],
    ['limits.memory', '0'],
    ['limits.memory', undefined],
    ['requests.hugepages-1Gi', '1Gi'],
  ])('%s in units of %s is taken', (resource, divisor) => {
    expect(problems(resource, divisor)).toEqual([]);
  });

  test.each(['cpu', 'limits.storage', 'limits.example.com/gpu'])('%s is no such field', (resource) => {
    expect(problems(resource, '7')).toEqual([`ref.resource: Invalid value: "${resource}": is none`]);
  });
});
