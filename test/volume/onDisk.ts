import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from '@jest/globals';
import { listMountsUnder } from '../../host/files/mountinfo.ts';
import { createLayout, type Layout } from '../../host/pods/layout.ts';
import type { Maker } from '../../host/pods/podMark.ts';
import { type Pod, podSchema } from '../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import { hostMounter } from '../../volume/mount/hostMounter.ts';
import { unmount } from '../../volume/mount/mount.ts';
import type { VolumeMount } from '../../volume/plugins/plugin.ts';

/**
 * Defines a test that requires root. Without root it fails instead of being skipped, because a skipped test proves
 * nothing.
 */
export function withRoot(name: string, story: () => Promise<void>): void {
  test(name, async () => {
    if (process.getuid?.() !== 0) throw new Error('this test does what only root may: run the tests as root');
    await story();
  });
}

/** A signal that never aborts. */
export const { signal } = new AbortController();

/** Returns the agent whose root directory is that of the layout. */
export const makerIn = ({ podsDir }: Layout): Maker => ({
  root: path.dirname(podsDir),
  node: 'node-1',
  runtime: 'unix:///run/containerd/containerd.sock',
});

/** Runs a story in its own directory, which is deleted afterwards. */
export async function inFolder(story: (folder: string, layout: Layout) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'statelet-volume-'));
  try {
    await story(
      folder,
      createLayout({ rootDir: path.join(folder, 'root'), podLogsDir: path.join(folder, 'log', 'pods') }),
    );
  } finally {
    for (const { path: mounted } of await listMountsUnder(folder, signal)) await unmount(mounted, signal);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the pod `web` in the namespace `default` with the UID `u1` and these additions to its spec. */
export function podWith(spec: object = {}): Pod {
  return podSchema.parse({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    spec: { containers: [{ name: 'main', image: 'busybox' }], ...spec },
  });
}

/** Returns the input of a plugin: a volume of a pod on a node with four cores and 8 GiB, at half past two. */
export function requestOf(layout: Layout, volume: Volume, pod: Pod = podWith()): VolumeMount {
  const now = Date.parse('2026-11-21T14:30:00Z');
  return { pod, volume, layout, mounter: hostMounter, allocatable: { cpu: '4', memory: '8Gi' }, now, signal };
}
