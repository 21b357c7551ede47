/** A node that delays the shutdown of its machine by an inhibitor lock of the real logind. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import { addPod, inVm, queryNode, reboot, removePods, run, runningPod, startNode } from './support/host.ts';

const STATE_FILE = '/var/lib/statelet/run/graceful_node_shutdown_state';
const TRACE_FILE = '/var/tmp/stopped-gracefully';

beforeAll(async () => {
  await run(`rm -f ${TRACE_FILE} ${STATE_FILE} /etc/systemd/logind.conf.d/99-kubelet.conf`);
  await startNode({ shutdownGracePeriod: '60s', shutdownGracePeriodCriticalPods: '30s' });
  // A process that takes ten seconds to stop, which logind's default delay of five seconds would cut off.
  const script =
    'trap "sleep 10; sync; touch /trace/stopped-gracefully; sync; exit 0" TERM; while true; do sleep 1; done';
  const pod = podManifest('slow', [
    shell('main', script, { volumeMounts: [{ name: 'trace', mountPath: '/trace' }] }),
    shell('other', steadily()),
  ]);
  const volumes = [{ name: 'trace', hostPath: { path: '/var/tmp' } }];
  await addPod({ ...pod, spec: { ...pod.spec, volumes, terminationGracePeriodSeconds: 50 } });
  await runningPod('slow');
});
afterAll(async () => {
  await removePods('slow');
  await run(`rm -f ${TRACE_FILE} /etc/systemd/logind.conf.d/99-kubelet.conf && systemctl kill -s HUP systemd-logind`);
});

test('the node raises the delay of logind, and holds a lock', async () => {
  await inVm('the lock is listed', async () => (await run('systemd-inhibit --list --no-pager')).includes('kubelet'));
  const delay = await run(
    'busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager InhibitDelayMaxUSec',
  );
  expect(delay).toBe('t 60000000');
});

test('a reboot waits until the pod has stopped by itself, and the pod runs again after it', async () => {
  await reboot();
  expect(await run(`test -e ${TRACE_FILE} && echo stopped`)).toBe('stopped');
  const state: unknown = JSON.parse(await run(`cat ${STATE_FILE}`));
  expect(state).toEqual({ startTime: expect.any(String), endTime: expect.not.stringMatching(/^0001/) });
  await runningPod('slow');
  expect(await queryNode('/pods')).toMatchObject({ items: expect.anything() });
});
