/**
 * Releases IP addresses and host ports of sandboxes whose creation was interrupted because containerd was killed.
 * containerd has no record of these sandboxes, so their addresses and port rules would otherwise stay in use.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/failure.ts';
import type { Layout } from '../layout.ts';
import { run } from '../program.ts';

/** IP address allocated to a sandbox, with the file that records the allocation. */
export interface Lease {
  readonly file: string;
  readonly sandboxId: string;
}

/** Lists the IP addresses that are currently allocated. */
export async function listLeases({ cniData, network }: Layout): Promise<readonly Lease[]> {
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

/**
 * Releases the leases of sandboxes that no longer exist, and returns the errors. If one release fails, the others are
 * still attempted.
 */
export async function releaseLeases(
  leases: readonly Lease[],
  { sandboxes, ...options }: { sandboxes: readonly string[]; layout: Layout; cniPlugins?: string; signal: AbortSignal },
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { file, sandboxId } of leases) {
    if (sandboxes.includes(sandboxId)) continue;
    try {
      if (sandboxId !== '') await removeHostPorts(sandboxId, options);
    } catch (error) {
      // Remove the lease file even if removing the port rules failed, because later starts could not remove the rules
      // either.
      options.signal.throwIfAborted();
      failures.push(messageOf(error));
    }
    await rm(file, { force: true });
  }
  return failures;
}

/** Calls the portmap plugin, which removes all rules of the sandbox but requires a port mapping as input. */
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
