import { expect, test } from '@jest/globals';
import { withAdvice } from '../../../../actors/services/containers/lostTasks.ts';
import { NodeFailure } from '../../../../base/failure.ts';

const words = 'RemovePodSandbox: failed to delete containerd container "c1": cannot delete running task c1';
const lost = new NodeFailure('TaskLost', words);

test('a failure by a lost container task says what happens next, or what to do if the runtime is not private', () => {
  expect(withAdvice(lost, true)).toMatchObject({ reason: 'TaskLost', message: expect.stringContaining(words) });
  expect(String(withAdvice(lost, true))).toContain('the private containerd will be restarted if this happens again');
  expect(String(withAdvice(lost, false))).toContain('restart the container runtime (systemctl restart containerd)');
});

test('any other failure is passed on unchanged', () => {
  const other = new NodeFailure('RuntimeError', 'RemovePodSandbox: device busy');
  expect(withAdvice(other, true)).toBe(other);
});
