import { expect, test } from '@jest/globals';
import { validateSchedulingGates } from '../../../../pod/api/validation/scheduling.ts';
import { aPod } from '../../fixtures.ts';

test.each([
  [{ schedulingGates: [{ name: 'a/b' }] }, []],
  [{ nodeName: 'node-1', schedulingGates: [] }, []],
  [
    { nodeName: 'node-1', schedulingGates: [{ name: 'a/b' }] },
    [{ path: 'spec.nodeName', message: 'Forbidden: cannot be set until all schedulingGates have been cleared' }],
  ],
])('C46: a pod with a node has no scheduling gates: %j', (spec, problems) => {
  expect(validateSchedulingGates(aPod(spec).spec)).toEqual(problems);
});
