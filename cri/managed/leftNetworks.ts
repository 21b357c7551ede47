/**
 * The network namespaces of sandboxes that were being made when containerd was killed: it knows nothing of them any more,
 * and each keeps its veth pair on the bridge.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';
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

type Sandboxes = Pick<Cri, 'podSandboxStatus'>;

/** The file that holds the network namespace of a sandbox; undefined of one in that of the host, or that has gone. */
async function netNamespaceOf(cri: Sandboxes, podSandboxId: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { info } = await cri.podSandboxStatus({ podSandboxId, verbose: true }, { signal });
    const { runtimeSpec } = infoSchema.parse(JSON.parse(info.info ?? ''));
    return runtimeSpec.linux.namespaces.find(({ type }) => type === 'network')?.path;
  } catch (cause) {
    if (cause instanceof NodeFailure && cause.reason === 'NotFound') return undefined;
    const message = `the networks of former sandboxes are kept, because containerd did not report the network of sandbox ${podSandboxId}`;
    throw new NodeFailure('RuntimeError', message, { cause });
  }
}

/**
 * Removes those that none of the sandboxes has; with them the kernel takes the veth pairs away. Where it cannot be told of
 * every sandbox which one it has, all stay.
 */
export async function removeNetNamespaces(
  held: readonly string[],
  { cri, sandboxes, signal }: { cri: Sandboxes; sandboxes: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const used = await Promise.all(sandboxes.map((id) => netNamespaceOf(cri, id, signal)));
  // Their names are random and differ; the directory may have had another path when a sandbox was made.
  const names = new Set(used.map((file) => basename(file ?? '')));
  for (const file of held.filter((each) => !names.has(basename(each)))) await removeNetNamespace(file, signal);
}

async function removeNetNamespace(file: string, signal: AbortSignal): Promise<void> {
  const mounted = mountsBelow(join(file, '..'), await readFile('/proc/self/mountinfo', 'utf8'));
  if (mounted.includes(file)) await run('umount', [file], { signal });
  await rm(file, { force: true });
}
