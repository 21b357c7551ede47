import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { isRunning } from '../../host/runningProcess.ts';
import { podManifest, shell, steadily, stubbornly } from './support/manifests.ts';
import { allRun, identitiesOf, timelessStatus, type UpNode, upNode } from './support/node.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(120_000);

let node: UpNode;

beforeEach(async () => {
  node = await upNode();
});

afterEach(() => node.end());

/** Starts a pod that needs its whole grace period to stop. */
async function slowPod(seconds: number): Promise<void> {
  await node.write(
    'slow',
    podManifest('slow', [shell('main', stubbornly)], { terminationGracePeriodSeconds: seconds }),
  );
}

describe('signals to `statelet up`', () => {
  test('cause one graceful stop, even for a Ctrl-C to the whole process group twice within 2 s', async () => {
    await slowPod(4);
    const up = await node.start();
    await node.running('slow');
    const marks = await marksOf(node.containerdDirectory);
    const began = performance.now();
    up.kill('SIGINT', 'group');
    await up.says('terminating all pods');
    up.kill('SIGINT', 'group');
    expect(await up.ended).toBe(0);
    // The pod had its full grace period, because neither containerd nor the second signal cut it short.
    expect(performance.now() - began).toBeGreaterThan(3900);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
  });

  test('cause an immediate stop if a later one follows, and pods and containerd run on until the next `up`', async () => {
    await slowPod(6);
    await node.write('quick', podManifest('quick', [shell('main', steadily())]));
    const up = await node.start();
    await node.running('slow');
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGINT');
    await up.says('terminating all pods');
    await pause(2100);
    up.kill('SIGTERM');
    expect(await up.ended).toBe(128 + 15);
    expect(await traces(marks)).toContainEqual(expect.stringMatching(/^process \d+: containerd /));
    expect(await Promise.all(marks.processes.map(isRunning))).toContain(true);

    const next = await node.start();
    await node.running('quick');
    await node.running('slow');
    next.kill('SIGTERM');
    expect(await next.ended).toBe(0);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
  });
});

describe('SIGKILL of `statelet up`', () => {
  /** The first run exits with 0, so that the container is restarted. The second run continues. */
  const onceAgain = `if [ -e /data/ran ]; then ${steadily()}; else touch /data/ran; fi`;

  test('does not stop the pods and containerd, and the next `up` adopts and terminates them', async () => {
    const data = [{ name: 'data', mountPath: '/data' }];
    const containers = [shell('steady', steadily()), shell('again', onceAgain, { volumeMounts: data })];
    await node.write('web', podManifest('web', containers, { volumes: [{ name: 'data', emptyDir: {} }] }));
    const up = await node.start();
    const restarted = (pod: Parameters<typeof allRun>[0]) =>
      allRun(pod) && identitiesOf(pod).again?.restarts === 1 && pod;
    const before = await node.until('runs after a restart', 'web', restarted);
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGKILL');
    expect(await up.ended).toBe('SIGKILL');
    expect(await Promise.all(marks.processes.map(isRunning))).not.toContain(false);

    const next = await node.start();
    const after = await node.running('web');
    expect(identitiesOf(after)).toEqual(identitiesOf(before));
    expect(timelessStatus(after)).toEqual(timelessStatus(before));
    // The processes are exactly the same.
    expect((await marksOf(node.containerdDirectory)).processes).toEqual(marks.processes);
    next.kill('SIGTERM');
    expect(await next.ended).toBe(0);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
  });
});
