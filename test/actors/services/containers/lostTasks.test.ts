import { expect, test } from '@jest/globals';
import { withHelp } from '../../../../actors/services/containers/lostTasks.ts';
import { NodeFailure } from '../../../../base/failure.ts';

const words = 'RemovePodSandbox: failed to delete containerd container "c1": cannot delete running task c1';
const lost = new NodeFailure('TaskLost', words);

test("a container that the runtime has lost: the failure says what happens, or what to do where it is not the node's own", () => {
  expect(withHelp(lost, true)).toMatchObject({ reason: 'TaskLost', message: expect.stringContaining(words) });
  expect(String(withHelp(lost, true))).toContain('the private containerd will be restarted if this happens again');
  expect(String(withHelp(lost, false))).toContain('restart the container runtime (systemctl restart containerd)');
});

test('any other failure is told as it is', () => {
  const other = new NodeFailure('RuntimeError', 'RemovePodSandbox: device busy');
  expect(withHelp(other, true)).toBe(other);
});
