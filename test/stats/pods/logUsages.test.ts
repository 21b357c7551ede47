import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { createLayout, type Layout } from '../../../host/pods/layout.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { LogUsages } from '../../../stats/pods/logUsages.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

let root: string;
let layout: Layout;
const clock = new SimulatedClock();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'statelet-logs-'));
  layout = createLayout({ rootDir: root, podLogsDir: join(root, 'logs') });
});

afterEach(() => rmSync(root, { recursive: true }));

const KIB = 1_024;
const running = { running: { startedAt: '2026-05-04T12:00:00Z' } };
const ended = { terminated: { exitCode: 0 } };

/**
 * Creates a pod with a running and a terminated container. Each has a current log of 64 KiB and a rotated one of 8 KiB.
 */
function logged(name: string): Pod {
  const pod = podWith(name, { containers: [containerWith('main'), containerWith('done')] });
  const { uid, namespace } = pod.metadata;
  for (const container of ['main', 'done']) {
    const directory = layout.containerLogDir({ uid, namespace, name }, container);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, '0.log'), Buffer.alloc(64 * KIB));
    writeFileSync(join(directory, '0.log.20260504-120000'), Buffer.alloc(8 * KIB));
  }
  const status = (container: string, state: object) => ({
    name: container,
    containerID: `containerd://${name}-${container}`,
    state,
    ready: true,
    restartCount: 0,
    image: '',
    imageID: '',
  });
  return { ...pod, status: { phase: 'Running', containerStatuses: [status('main', running), status('done', ended)] } };
}

test('the log usage of a container includes all its log files, but not the targets of symlinks', async () => {
  const [web, gone] = [logged('web'), logged('gone')];
  rmSync(layout.podLogDir({ ...gone.metadata }), { recursive: true });
  const { uid, namespace } = web.metadata;
  // The target of a symlink does not count, because it belongs to somebody else.
  const main = layout.containerLogDir(web.metadata, 'main');
  writeFileSync(join(root, 'large'), Buffer.alloc(1_024 * KIB));
  symlinkSync(join(root, 'large'), join(main, '1.log'));
  const usages = new LogUsages({ pods: () => [web, gone], layout, clock });
  expect(await usages.latest()).toEqual([{ uid, namespace, pod: 'web', container: 'main', bytes: expect.any(Number) }]);
  const [{ bytes = 0 } = {}] = await usages.latest();
  expect(bytes).toBeGreaterThanOrEqual(72 * KIB);
  expect(bytes).toBeLessThan(128 * KIB);
});

test('log usage is measured at most once a minute, however many callers request it', async () => {
  const pods = [logged('web')];
  let looks = 0;
  const counted = () => {
    looks += 1;
    return pods;
  };
  const usages = new LogUsages({ pods: counted, layout, clock });
  const [one, other] = await Promise.all([usages.latest(), usages.latest()]);
  expect(one).toBe(other);
  await clock.advance(59_000);
  expect(await usages.latest()).toBe(one);
  await clock.advance(1_000);
  pods.pop();
  expect(await usages.latest()).toEqual([]);
  expect(looks).toBe(2);
});

test('callers do not wait long for a hanging disk, and get the previous values', async () => {
  let isAway = false;
  const count = async () => (isAway ? new Promise<never>(() => {}) : { bytes: 5 });
  const usages = new LogUsages({ pods: () => [logged('web')], layout, clock, measure: count });
  const known = await usages.latest();
  expect(known).toMatchObject([{ bytes: 5 }]);
  isAway = true;
  await clock.advance(60_000);
  expect(await usages.latest()).toBe(known);
}, 10_000);
