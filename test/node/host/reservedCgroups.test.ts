import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';
import { nodeResources } from '../../../node/config/compile/nodeResources.ts';
import type { KubeletConfiguration } from '../../../node/config/files/kubeletConfiguration.ts';
import { settingValues } from '../../../node/config/settings/settingValues.ts';
import { enforceReservedCgroups } from '../../../node/host/reservedCgroups.ts';

const root = mkdtempSync(join(tmpdir(), 'statelet-daemons-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const config: Partial<KubeletConfiguration> = {
  enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved-compressible'],
  systemReserved: { memory: '1Gi' },
  kubeReserved: { cpu: '1', memory: '1Gi' },
  systemReservedCgroup: '/system',
  kubeReservedCgroup: '/kube',
};

/** Enforces the configured reservations on a v2 hierarchy in which these cgroups exist, and returns the events. */
async function enforce(cgroups: readonly string[]) {
  for (const name of cgroups) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'cgroup.controllers'), 'cpu memory pids\n');
  }
  const events: EventMessage[] = [];
  const { reservedCgroups } = nodeResources(settingValues({ flags: {}, file: config }));
  const failure = await enforceReservedCgroups(reservedCgroups, {
    cgroupDriver: 'cgroupfs',
    hierarchies: [{ root, version: 'v2', controllers: ['cpu', 'memory', 'pids'] }],
    publish: (event) => void events.push(event),
  }).catch((error: unknown) => error);
  return { events, failure };
}

test('C25: the cgroups of pods are set up before those of daemons, which may have their controllers from that', async () => {
  const { reservedCgroups } = nodeResources(settingValues({ flags: {}, file: config }));
  const events: string[] = [];
  await enforceReservedCgroups(reservedCgroups, {
    cgroupDriver: 'cgroupfs',
    hierarchies: [{ root, version: 'v2', controllers: ['cpu', 'memory', 'pids'] }],
    publish: ({ message }) => void events.push(message),
    cgroups: {
      setUp: async () => {
        for (const name of ['system', 'kube']) {
          mkdirSync(join(root, name), { recursive: true });
          writeFileSync(join(root, name, 'cgroup.controllers'), 'cpu memory pids\n');
        }
        throw new Error('busy');
      },
    },
  });
  expect(events).toHaveLength(2);
});

describe('C25: the reservations of daemons at startup', () => {
  test('are set with an event for each cgroup', async () => {
    const { events, failure } = await enforce(['system', 'kube']);
    expect(failure).toBeUndefined();
    expect(events).toEqual([
      { reason: 'NodeAllocatableEnforced', message: 'Updated limits on system reserved cgroup /system' },
      { reason: 'NodeAllocatableEnforced', message: 'Updated limits on kube reserved cgroup /kube' },
    ]);
    expect(readFileSync(join(root, 'system/memory.max'), 'utf8')).toBe(String(2 ** 30));
    expect(readFileSync(join(root, 'kube/cpu.weight'), 'utf8')).toBe('39');
    expect(() => readFileSync(join(root, 'kube/memory.max'))).toThrow('ENOENT');
  });

  test('end the start with the message of the event if a cgroup does not exist', async () => {
    const { events, failure } = await enforce(['system']);
    const message = `Failed to enforce Kube Reserved Compressible Cgroup Limits on "/kube": could not read controllers for cgroup ["kube"]: ${root}/kube does not exist`;
    expect(failure).toMatchObject({ reason: 'FailedNodeAllocatableEnforcement', message });
    expect(events.slice(1)).toEqual([{ eventType: 'Warning', reason: 'FailedNodeAllocatableEnforcement', message }]);
  });
});
