import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../../../actors/simulated/simulatedClock.ts';
import { ApiServer } from '../../../../../../testing/apiserver/apiServer.ts';
import type { Json } from '../../../../../../testing/apiserver/json.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NEVER = { name: 'main', image: 'busybox:1', restartPolicy: 'Never' };
const restartsAll = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } };
const terminatedState = { terminated: { exitCode: 143, reason: 'Error' } };

/** Whether the server accepts a status in which a terminated container is running again. */
async function mayRunAgain(...containers: readonly Json[]): Promise<boolean> {
  const server = await ApiServer.start(new SimulatedClock());
  const spec = { nodeName: 'node1', containers: [...containers] };
  await server.request('POST', PODS, { metadata: { name: 'web' }, spec });
  const patchState = (state: Json) => {
    const containerStatuses = [{ name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state }];
    return server.request(
      'PATCH',
      `${PODS}/web/status`,
      { status: { containerStatuses } },
      'application/merge-patch+json',
    );
  };
  try {
    await patchState(terminatedState);
    return await patchState({ running: {} }).then(
      () => true,
      (error: unknown) => {
        expect(String(error)).toContain('may not be transitioned to non-terminated state');
        return false;
      },
    );
  } finally {
    server.close();
  }
}

test('a container that has terminated for good must not run again', async () => {
  expect(await mayRunAgain(NEVER)).toBe(false);
  expect(await mayRunAgain({ ...NEVER, restartPolicy: 'Always' })).toBe(true);
});

test('any container may run again, whatever its exit code, if an exit may restart all containers', async () => {
  expect(await mayRunAgain({ ...NEVER, restartPolicyRules: [restartsAll] })).toBe(true);
  const helper = { name: 'helper', image: 'busybox:1', restartPolicy: 'Never', restartPolicyRules: [restartsAll] };
  expect(await mayRunAgain(NEVER, helper)).toBe(true);
});
