/** Files that the administrator of the host has provided for the agent: a RuntimeClass and registry credentials. */
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import type { RuntimeClasses } from '../../../kubernetes/api/runtimeClass.ts';
import type { RuntimeClass } from '../../../kubernetes/api/schema/runtimeClass.ts';
import { syncAll, writeFile } from './writeFile.ts';

const PRIVATE_REPOSITORY = 'registry.local/private';
const CREDENTIALS = { username: 'node', password: 'of the node' };

/** An image that can only be pulled with credentials. */
export const PRIVATE_IMAGE = `${PRIVATE_REPOSITORY}:1`;
/** A RuntimeClass with pod overhead. */
export const RUNTIME_CLASS = 'roomy';

/** The images that registries serve, and the credentials that they require. */
export const REGISTRIES = { anyPullable: true, private: { [PRIVATE_REPOSITORY]: CREDENTIALS } } as const;

const ROOMY: RuntimeClass & { readonly apiVersion: string; readonly kind: string } = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: RUNTIME_CLASS },
  handler: 'roomy',
  overhead: { podFixed: { cpu: '50m', memory: '8Mi' } },
};

/** The RuntimeClasses of the node, by name. */
export const CLASSES: RuntimeClasses = new Map([[RUNTIME_CLASS, ROOMY]]);

/** Writes the files to the disk and syncs them. */
export function writeProvidedFiles(
  disk: MemoryDisk,
  { root, classes }: { readonly root: string; readonly classes: string },
): void {
  const auth = Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString('base64');
  writeFile(disk, `${root}/config.json`, JSON.stringify({ auths: { [PRIVATE_REPOSITORY]: { auth } } }));
  writeFile(disk, `${classes}/${RUNTIME_CLASS}.json`, JSON.stringify(ROOMY));
  syncAll(disk, disk.rootDirectory);
}
