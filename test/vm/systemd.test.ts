/** The agent as a service of a real systemd. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import {
  addPod,
  burstableSlice,
  inVm,
  processesIn,
  removePods,
  run,
  runningPod,
  startNode,
  unitProperties,
} from './support/host.ts';

beforeAll(async () => {
  await startNode();
  await addPod(podManifest('web', [shell('main', steadily(), { resources: { requests: { memory: '16Mi' } } })]));
});
afterAll(() => removePods('web'));

test('the machine is a host of 2026: systemd, cgroup v2 and containerd 1.7', async () => {
  expect(await run('cat /proc/1/comm')).toBe('systemd');
  expect(await run('stat -f -c %T /sys/fs/cgroup')).toBe('cgroup2fs');
  expect(await run('containerd --version')).toMatch(/ 1\.7\.\d+/);
  expect(await run('systemctl --failed --plain --no-legend')).toBe('');
});

test('systemd waits until the agent reports that it is ready', async () => {
  const properties = await unitProperties('statelet', 'Type', 'ActiveState', 'SubState', 'NRestarts', 'WatchdogUSec');
  expect(properties).toEqual({
    Type: 'notify',
    ActiveState: 'active',
    SubState: 'running',
    NRestarts: '0',
    WatchdogUSec: '1min',
  });
});

test('the agent repeatedly notifies the watchdog of systemd', async () => {
  const last = async () => (await unitProperties('statelet', 'WatchdogTimestampMonotonic')).WatchdogTimestampMonotonic;
  const first = await last();
  expect(Number(first)).toBeGreaterThan(0);
  await inVm('the watchdog is notified again', async () => Number(await last()) > Number(first));
});

test('stopping the unit leaves the pods running, and the next agent adopts them', async () => {
  const before = await runningPod('web');
  const processes = await processesIn(burstableSlice(before));
  await run('systemctl stop statelet');
  expect(await unitProperties('statelet', 'ActiveState', 'Result')).toEqual({
    ActiveState: 'inactive',
    Result: 'success',
  });
  expect(await processesIn(burstableSlice(before))).toEqual(processes);
  await startNode();
  const after = await runningPod('web');
  expect(after.status?.containerStatuses).toEqual(before.status?.containerStatuses);
  expect(await processesIn(burstableSlice(before))).toEqual(processes);
});

test('systemd restarts an agent that is killed, and its pods continue to run', async () => {
  const before = await runningPod('web');
  const { MainPID: pid } = await unitProperties('statelet', 'MainPID');
  await run('systemctl kill --signal=SIGKILL --kill-whom=main statelet');
  await inVm('another agent has started', async () => {
    const { MainPID, SubState } = await unitProperties('statelet', 'MainPID', 'SubState');
    return MainPID !== pid && SubState === 'running';
  });
  expect((await runningPod('web')).status?.containerStatuses).toEqual(before.status?.containerStatuses);
});
