import { expect, test } from '@jest/globals';
import { validatePod } from '../../../../pod/api/validate.ts';
import { aContainer, aPod } from '../../fixtures.ts';

test('a stopSignal is refused without an operating system, for that says which signals there are', () => {
  const containers = [aContainer({ lifecycle: { stopSignal: 'SIGUSR1' } })];
  expect(validatePod(aPod({ containers }))).toEqual([
    {
      path: 'spec.containers[0].lifecycle.stopSignal',
      message: 'Forbidden: may not be set for containers with empty `spec.os.name`',
    },
  ]);
  expect(validatePod(aPod({ containers, os: { name: 'linux' } }))).toEqual([]);
});
