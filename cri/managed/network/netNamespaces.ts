/**
 * Removes the network namespaces of sandboxes whose creation was interrupted because containerd was killed. containerd
 * has no record of these namespaces, and each would leave a veth pair on the bridge.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import type { Cri } from '../../client/calls.ts';
import type { Layout } from '../layout.ts';
import { parseMountPointsBelow } from '../mounts.ts';
import { run } from '../program.ts';

/** Lists the existing network namespaces by the files to which they are bind-mounted. */
export async function listNetNamespaces({ netNamespaces: directory }: Layout): Promise<readonly string[]> {
  return (await readdir(directory).catch(() => [])).map((name) => join(directory, name));
}

const sandboxInfoSchema = z.object({
  runtimeSpec: z.object({
    linux: z.object({ namespaces: z.array(z.object({ type: z.string(), path: z.optional(z.string()) })) }),
  }),
});

type SandboxStatusRuntime = Pick<Cri, 'podSandboxStatus'>;

/**
 * Returns the file of a sandbox's network namespace, or undefined if the sandbox is on the host network or no longer
 * exists.
 */
async function readNetNamespace(
  cri: SandboxStatusRuntime,
  podSandboxId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { info } = await cri.podSandboxStatus({ podSandboxId, verbose: true }, { signal });
    const { runtimeSpec } = sandboxInfoSchema.parse(JSON.parse(info.info ?? ''));
    return runtimeSpec.linux.namespaces.find(({ type }) => type === 'network')?.path;
  } catch (cause) {
    if (cause instanceof NodeFailure && cause.reason === 'NotFound') return undefined;
    const message = `the networks of former sandboxes are kept, because containerd did not report the network of sandbox ${podSandboxId}`;
    throw new NodeFailure('RuntimeError', message, { cause });
  }
}

/**
 * Removes the namespaces in `candidates` that no sandbox uses. The kernel then removes their veth pairs. Removes
 * nothing if the namespace of any sandbox is unknown.
 */
export async function removeNetNamespaces(
  candidates: readonly string[],
  { cri, sandboxes, signal }: { cri: SandboxStatusRuntime; sandboxes: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const usedNamespaceFiles = await Promise.all(sandboxes.map((id) => readNetNamespace(cri, id, signal)));
  // Compare only the base names, which are random and unique, because the directory may have had a different path when
  // the sandbox was created.
  const usedNames = new Set(usedNamespaceFiles.map((file) => basename(file ?? '')));
  for (const file of candidates.filter((candidate) => !usedNames.has(basename(candidate))))
    await removeNetNamespace(file, signal);
}

async function removeNetNamespace(file: string, signal: AbortSignal): Promise<void> {
  const mountPoints = parseMountPointsBelow(join(file, '..'), await readFile('/proc/self/mountinfo', 'utf8'));
  if (mountPoints.includes(file)) await run('umount', [file], { signal });
  await rm(file, { force: true });
}
