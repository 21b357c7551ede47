import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ClaimManager } from '../../../actors/claims/claimManager.ts';
import type { ClaimReference, HealthListener, ResourceDrivers } from '../../../actors/claims/resourceDrivers.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { parseClaimCheckpoint } from '../../../kubernetes/claims/claimCheckpoint.ts';
import type { ClaimDevice } from '../../../kubernetes/claims/claimState.ts';
import { parseHealthCheckpoint } from '../../../kubernetes/claims/healthCheckpoint.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';

const GPU = 'gpu.example.com';
const options = { signal: new AbortController().signal };

let rootDir: string;
let isDiskFull: boolean;
let calls: string[];
let errors: unknown[];
let healthListener: HealthListener | undefined;
let preparedDevices: readonly ClaimDevice[];
let createManager: () => ClaimManager;
let manager: ClaimManager;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-claims-'));
  [isDiskFull, calls, errors, healthListener, preparedDevices] = [false, [], [], undefined, []];
  const names = (claims: readonly ClaimReference[]) => claims.map(({ name }) => name).join();
  const drivers: ResourceDrivers = {
    follow: async ({ health }) => {
      healthListener = health;
    },
    requireRegistered: () => {},
    prepare: async (_, claims) => {
      calls.push(`prepare ${names(claims)}`);
      return claims.map(({ uid }) => ({ uid, error: '', devices: preparedDevices }));
    },
    unprepare: async (_, claims) => {
      calls.push(`unprepare ${names(claims)}`);
      return claims.map(({ uid }) => ({ uid, error: '' }));
    },
  };
  createManager = () =>
    new ClaimManager({
      rootDir,
      drivers,
      reportsHealth: true,
      reportsHealthMessages: true,
      onError: (error) => void errors.push(error),
      clock: systemClock,
      files: {
        ...hostFiles,
        rename: async (from, to) => {
          if (isDiskFull) throw new Error('ENOSPC: no space left on device');
          await hostFiles.rename(from, to);
        },
      },
      fetchClaim: async ({ namespace, name }) => ({
        metadata: { name, namespace, uid: `uid-${name}`, ownerReferences: [] },
        status: {
          allocation: { devices: { results: [{ driver: GPU }] } },
          reservedFor: [{ uid: 'a' }, { uid: 'b' }],
        },
      }),
      podStatus: () => undefined,
    });
  manager = createManager();
});
afterEach(() => rm(rootDir, { recursive: true, force: true }));

const podWithClaims = (uid: string, ...claims: readonly string[]): Pod => {
  const resourceClaims = claims.map((name) => ({ name, resourceClaimName: name }));
  const pod = aPod({ containers: [aContainer()], resourceClaims });
  return { ...pod, metadata: { ...pod.metadata, uid } };
};

const usersOnDisk = async () => {
  const claims = parseClaimCheckpoint(await readFile(join(rootDir, 'dra_manager_state'), 'utf8'));
  return Object.fromEntries(claims.map(({ name, podUids }) => [name, podUids]));
};

async function failToUnprepare(podUid: string): Promise<void> {
  isDiskFull = true;
  await expect(manager.unprepare(podUid, options)).rejects.toThrow(
    'unprepare dynamic resources: checkpoint ResourceClaim state: could not save checkpoint dra_manager_state: ENOSPC',
  );
  isDiskFull = false;
}

describe('C50: the claims of a pod that stops while the checkpoint cannot be written', () => {
  test('are unprepared again and removed from the checkpoint by the next attempt', async () => {
    await manager.prepare(podWithClaims('a', 'gpu', 'shared'), options);
    await manager.prepare(podWithClaims('b', 'shared'), options);
    expect(await usersOnDisk()).toEqual({ gpu: ['a'], shared: ['a', 'b'] });
    await failToUnprepare('a');
    await manager.unprepare('a', options);
    expect(await usersOnDisk()).toEqual({ shared: ['b'] });
    expect(calls).toEqual(['prepare gpu,shared', 'unprepare gpu', 'unprepare gpu']);
  });

  test('are prepared for another pod, because their driver has reverted the preparation', async () => {
    await manager.prepare(podWithClaims('a', 'gpu'), options);
    await failToUnprepare('a');
    await manager.prepare(podWithClaims('b', 'gpu'), options);
    expect(calls).toEqual(['prepare gpu', 'unprepare gpu', 'prepare gpu']);
  });
});

describe('C50: the checkpoint of the health of devices', () => {
  const healthOnDisk = async () => {
    const records = parseHealthCheckpoint(await readFile(join(rootDir, 'dra_health_state'), 'utf8'));
    return records.map(({ deviceName, status }) => `${deviceName} ${status}`);
  };
  const report = (deviceName: string, status: 'Healthy' | 'Unhealthy' = 'Healthy') =>
    healthListener?.reported(GPU, [{ poolName: 'pool', deviceName, status, message: '', timeoutSeconds: 60 }]);
  let following: AbortController;
  const follow = (followed: ClaimManager) => {
    const healths: (string | undefined)[] = [];
    void followed.feed(
      (fact) => {
        if (fact.type !== 'claims.changed') return;
        healths.push(fact.claims[0]?.drivers[0]?.devices[0]?.health?.status);
      },
      { signal: following.signal },
    );
    return healths;
  };
  beforeEach(() => {
    following = new AbortController();
    follow(manager);
  });
  afterEach(() => following.abort());

  test('follows each change, and is empty once the driver is gone', async () => {
    report('a');
    expect(await eventually('the first report', healthOnDisk)).toEqual(['a Healthy']);
    report('a', 'Unhealthy');
    report('b');
    await eventually('the last report', async () => ((await healthOnDisk()).length === 2 ? true : undefined));
    expect(await healthOnDisk()).toEqual(['a Unhealthy', 'b Healthy']);
    healthListener?.lost(GPU);
    await eventually('the loss', async () => ((await healthOnDisk()).length === 0 ? true : undefined));
  });

  test('remains when the agent stops, which closes its streams to the drivers', async () => {
    report('a');
    await eventually('the report', healthOnDisk);
    following.abort();
    healthListener?.lost(GPU);
    report('b');
    await eventually('the next write', async () => (await healthOnDisk()).includes('b Healthy'));
    expect(await healthOnDisk()).toEqual(['a Healthy', 'b Healthy']);
  });

  test.each([
    ['restored by the next agent', undefined, 'Unhealthy', 0],
    ['unknown to the next agent if the file is damaged', '{', undefined, 1],
  ])('is %s', async (_, damage, expected, errorCount) => {
    preparedDevices = [{ poolName: 'pool', deviceName: 'a', shareId: undefined, requestNames: [], cdiIds: [] }];
    await manager.prepare(podWithClaims('a', 'claim'), options);
    report('a', 'Unhealthy');
    await eventually('the report', healthOnDisk);
    if (damage !== undefined) await writeFile(join(rootDir, 'dra_health_state'), damage);
    const next = createManager();
    await next.load();
    expect(follow(next)).toEqual([expected]);
    expect(errors).toHaveLength(errorCount);
  });

  test('is not written for a report without a change, and a failed write does not prevent the next one', async () => {
    isDiskFull = true;
    report('a');
    await eventually('the failure', () => (errors.length > 0 ? true : undefined));
    isDiskFull = false;
    report('a');
    report('a', 'Unhealthy');
    expect(await eventually('the next write', healthOnDisk)).toEqual(['a Unhealthy']);
    expect(errors).toHaveLength(1);
  });
});
