import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ClaimManager } from '../../../actors/claims/claimManager.ts';
import type { ClaimReference, ResourceDrivers } from '../../../actors/claims/resourceDrivers.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { parseClaimCheckpoint } from '../../../kubernetes/claims/claimCheckpoint.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';

const GPU = 'gpu.example.com';
const options = { signal: new AbortController().signal };

let rootDir: string;
let isDiskFull: boolean;
let calls: string[];
let manager: ClaimManager;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-claims-'));
  [isDiskFull, calls] = [false, []];
  const names = (claims: readonly ClaimReference[]) => claims.map(({ name }) => name).join();
  const drivers: ResourceDrivers = {
    follow: async () => {},
    requireRegistered: () => {},
    prepare: async (_, claims) => {
      calls.push(`prepare ${names(claims)}`);
      return claims.map(({ uid }) => ({ uid, error: '', devices: [] }));
    },
    unprepare: async (_, claims) => {
      calls.push(`unprepare ${names(claims)}`);
      return claims.map(({ uid }) => ({ uid, error: '' }));
    },
  };
  manager = new ClaimManager({
    rootDir,
    drivers,
    reportsHealth: true,
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
