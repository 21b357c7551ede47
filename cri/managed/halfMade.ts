/**
 * What CNI plugins had made for a sandbox when containerd was killed: it knows nothing of that sandbox any more. The
 * address would stay taken, and the rules of its host ports would keep those from every later pod.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import type { Layout } from './layout.ts';
import { run } from './program.ts';

/** An address that was given to a sandbox: the note of it, and the sandbox's id. */
export interface Lease {
  readonly file: string;
  readonly sandboxId: string;
}

/** The addresses that are given to sandboxes now. */
export async function leases({ cniData, network }: Layout): Promise<readonly Lease[]> {
  const directory = join(cniData, network);
  const names = (await readdir(directory).catch(() => [])).filter((name) => /^[0-9.]+$/.test(name));
  return Promise.all(
    names.map(async (name) => {
      const file = join(directory, name);
      const [sandboxId = ''] = (await readFile(file, 'utf8').catch(() => '')).split(/\s/);
      return { file, sandboxId };
    }),
  );
}

/** Gives back what belongs to none of the sandboxes that there are, and says what could not be: one keeps no other. */
export async function releaseLeases(
  held: readonly Lease[],
  { sandboxes, ...place }: { sandboxes: readonly string[]; layout: Layout; cniPlugins?: string; signal: AbortSignal },
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { file, sandboxId } of held) {
    if (sandboxes.includes(sandboxId)) continue;
    try {
      if (sandboxId !== '') await removeHostPorts(sandboxId, place);
    } catch (error) {
      // Else nobody would know later of what is left.
      place.signal.throwIfAborted();
      failures.push(messageOf(error));
    }
    await rm(file, { force: true });
  }
  return failures;
}

/** By the plugin that made them; it wants to hear of a port, and takes all that the sandbox had. */
async function removeHostPorts(
  sandboxId: string,
  { layout, cniPlugins, signal }: { layout: Layout; cniPlugins?: string; signal: AbortSignal },
): Promise<void> {
  if (cniPlugins === undefined) throw new Error(`no CNI plugins found to release the host ports of ${sandboxId}`);
  const portMappings = [{ hostPort: 1, containerPort: 1, protocol: 'tcp' }];
  const config = { cniVersion: '1.0.0', name: layout.network, type: 'portmap', runtimeConfig: { portMappings } };
  const environment = {
    CNI_COMMAND: 'DEL',
    CNI_CONTAINERID: sandboxId,
    CNI_NETNS: '',
    CNI_IFNAME: 'eth0',
    CNI_PATH: cniPlugins,
  };
  await run(join(cniPlugins, 'portmap'), [], { signal, input: JSON.stringify(config), environment });
}
