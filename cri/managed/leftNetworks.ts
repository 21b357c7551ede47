/**
 * The network namespaces of sandboxes that were being made when containerd was killed: it knows nothing of them any more,
 * and each keeps its end of a cable on the bridge.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Cri } from '../calls.ts';
import type { Layout } from './layout.ts';
import { mountsBelow } from './mounts.ts';
import { run } from './program.ts';

/** The network namespaces that there are now, by the files that hold them. */
export async function netNamespaces({ netNamespaces: directory }: Layout): Promise<readonly string[]> {
  return (await readdir(directory).catch(() => [])).map((name) => join(directory, name));
}

const infoSchema = z.object({
  runtimeSpec: z.object({
    linux: z.object({ namespaces: z.array(z.object({ type: z.string(), path: z.optional(z.string()) })) }),
  }),
});

/** The file that holds the network namespace of a sandbox; undefined of one in that of the host. */
async function netNamespaceOf(cri: Cri, podSandboxId: string, signal: AbortSignal): Promise<string | undefined> {
  const { info } = await cri.podSandboxStatus({ podSandboxId, verbose: true }, { signal });
  const { runtimeSpec } = infoSchema.parse(JSON.parse(info.info ?? ''));
  return runtimeSpec.linux.namespaces.find(({ type }) => type === 'network')?.path;
}

/**
 * Removes those that none of the sandboxes has; with them the kernel takes the cables away. Where it cannot be told of
 * every sandbox which one it has, all stay.
 */
export async function removeNetNamespaces(
  held: readonly string[],
  { cri, sandboxes, signal }: { cri: Cri; sandboxes: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const used = await Promise.all(sandboxes.map((id) => netNamespaceOf(cri, id, signal)));
  for (const file of held.filter((each) => !used.includes(each))) await removeNetNamespace(file, signal);
}

async function removeNetNamespace(file: string, signal: AbortSignal): Promise<void> {
  const mounted = mountsBelow(join(file, '..'), await readFile('/proc/self/mountinfo', 'utf8'));
  if (mounted.includes(file)) await run('umount', [file], { signal });
  await rm(file, { force: true });
}
