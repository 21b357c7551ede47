/** The agent as a service of a real systemd. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import {
  addPod,
  burstableSlice,
  containerCgroup,
  inVm,
  processesIn,
  removePods,
  restartUnit,
  run,
  runningPod,
  startNode,
  unitProperties,
  writeFile,
} from './support/host.ts';

beforeAll(async () => {
  await startNode();
  await addPod(podManifest('web', [shell('main', steadily(), { resources: { requests: { memory: '16Mi' } } })]));
});
afterAll(() => removePods('web', 'guaranteed', 'best-effort'));

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

/** A drop-in with which systemd does not set the score of the agent, so that only the agent can lower it. */
const SCORE_FILE = '/etc/systemd/system/statelet.service.d/score.conf';

/** Returns the distinct scores of the processes of a pod's only container. A process may have exited meanwhile. */
async function containerScores(name: string): Promise<string> {
  const processes = await processesIn(containerCgroup(await runningPod(name)));
  return run(`cat ${processes.map((pid) => `/proc/${pid}/oom_score_adj`).join(' ')} 2> /dev/null | sort -u`);
}

test('C43: the agent lowers its own oom_score_adj, and its containers have those of their QoS classes', async () => {
  await writeFile(SCORE_FILE, '[Service]\nOOMScoreAdjust=0\n');
  try {
    await restartUnit();
    const { MainPID: pid, OOMScoreAdjust } = await unitProperties('statelet', 'MainPID', 'OOMScoreAdjust');
    expect(OOMScoreAdjust).toBe('0');
    expect(await run(`cat /proc/${pid}/oom_score_adj`)).toBe('-999');
    const resources = { limits: { cpu: '500m', memory: '32Mi' } };
    await addPod(podManifest('guaranteed', [shell('main', steadily(), { resources })]));
    await addPod(podManifest('best-effort', [shell('main', steadily())]));
    expect(await containerScores('guaranteed')).toBe('-997');
    expect(await containerScores('best-effort')).toBe('1000');
    const totalKib = Number(await run("sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo"));
    expect(await containerScores('web')).toBe(`${1_000 - Math.trunc((1_000 * 16 * 1_024) / totalKib)}`);
  } finally {
    await run(`rm -f ${SCORE_FILE}`);
    await restartUnit();
  }
});
