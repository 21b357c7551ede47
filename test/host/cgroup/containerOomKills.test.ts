import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ContainerOomKills } from '../../../host/cgroup/containerOomKills.ts';
import { containerIdOfKill } from '../../../kubernetes/lifecycle/oomKill.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'statelet-oom-counts-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const [first, second] = ['a'.repeat(64), 'b'.repeat(64)];

/** Writes the counts of a container's cgroup in the format of the kernel. */
function writeCounts(id: string, oomKills: number): void {
  const directory = join(root, 'own/kubepods/burstable/podone', id);
  mkdirSync(directory, { recursive: true });
  const lines = ['low 0', 'high 3', 'max 9', 'oom 4', `oom_kill ${oomKills}`, 'oom_group_kill 0', ''];
  writeFileSync(join(directory, 'memory.events.local'), lines.join('\n'));
}

const killsOf = (version: 'v1' | 'v2' = 'v2') =>
  new ContainerOomKills({
    location: { cgroupRoot: '/own', cgroupDriver: 'cgroupfs' },
    hierarchies: [{ root, version, controllers: ['cpu', 'memory'] }],
  });

describe('C48: the OOM kills that the cgroups of containers have counted', () => {
  test('are those since the last read, one per container, and none at the first read', () => {
    writeCounts(first, 2);
    writeCounts(second, 0);
    const kills = killsOf();
    expect(kills.read()).toEqual([]);
    expect(kills.read()).toEqual([]);
    writeCounts(first, 4);
    expect(kills.read()).toEqual([
      {
        at: 0,
        pid: 0,
        processName: '',
        cgroup: `/own/kubepods/burstable/podone/${first}`,
        limitedCgroup: '',
      },
    ]);
    expect(kills.read()).toEqual([]);
  });

  test('include those of a container that has started since the last read', () => {
    const kills = killsOf();
    kills.read();
    writeCounts(second, 1);
    expect(kills.read().map(containerIdOfKill)).toEqual([second]);
  });

  test('are unknown on cgroup v1', () => {
    const kills = killsOf('v1');
    kills.read();
    writeCounts(first, 1);
    expect(kills.read()).toEqual([]);
  });
});
