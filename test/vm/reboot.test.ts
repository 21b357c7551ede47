/** A node whose machine reboots. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import {
  addPod,
  burstableSlice,
  cgroupFile,
  podUntil,
  reboot,
  removePods,
  runningPod,
  startNode,
  unitProperties,
} from './support/host.ts';

beforeAll(async () => {
  await startNode();
  const resources = { limits: { memory: '64Mi' }, requests: { memory: '32Mi' } };
  await addPod(podManifest('web', [shell('main', steadily(), { resources })]));
});
afterAll(() => removePods('web'));

test('after a reboot systemd starts the agent, and the pods run again with their limits', async () => {
  const before = await runningPod('web');
  const idBefore = before.status?.containerStatuses?.[0]?.containerID;
  await reboot();
  expect(await unitProperties('statelet', 'ActiveState')).toEqual({ ActiveState: 'active' });
  await podUntil('has another container', 'web', ({ status }) => {
    const [container] = status?.containerStatuses ?? [];
    return container?.ready === true && container.containerID !== idBefore;
  });
  const after = await runningPod('web');
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(after.status?.containerStatuses).toMatchObject([{ restartCount: 1 }]);
  expect(await cgroupFile(burstableSlice(after), 'memory.max')).toBe(`${64 * 2 ** 20}`);
});
