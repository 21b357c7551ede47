import { expect, test } from '@jest/globals';
import { lostTasks } from '../../../actors/services/lostTasks.ts';
import { NodeFailure } from '../../../pod/failure.ts';

const words = 'RemovePodSandbox: failed to delete containerd container "c1": cannot delete running task c1';
const lost = new NodeFailure('RuntimeError', words);

test('a container that the runtime has lost: the private one is restarted when its removal fails again', () => {
  const restarts: string[] = [];
  const tasks = lostTasks((why) => restarts.push(why));
  expect(String(tasks.failed('s1', lost))).toContain('the private containerd will be restarted if this happens again');
  tasks.failed('s2', lost);
  expect(restarts).toEqual([]);
  tasks.failed('s1', lost);
  expect(restarts).toEqual(['cannot remove the sandbox s1']);
  for (let more = 0; more < 5; more++) tasks.failed('s1', lost);
  expect(restarts).toHaveLength(1);
  tasks.failed('s1', lost);
  expect(restarts).toHaveLength(2);
});

test('after it was removed it is counted again, and another failure is told as it is', () => {
  const restarts: string[] = [];
  const tasks = lostTasks((why) => restarts.push(why));
  tasks.failed('s1', lost);
  tasks.removed('s1');
  tasks.failed('s1', lost);
  const other = new NodeFailure('RuntimeError', 'RemovePodSandbox: device busy');
  expect([tasks.failed('s1', other), tasks.failed('s1', other)]).toEqual([other, other]);
  expect(restarts).toEqual([]);
});

test("where the runtime is not the node's own, the failure says what to do", () => {
  const told = lostTasks(undefined).failed('s1', lost);
  expect(told).toMatchObject({ reason: 'RuntimeError', message: expect.stringContaining(words) });
  expect(String(told)).toContain('restart the container runtime (systemctl restart containerd)');
});
