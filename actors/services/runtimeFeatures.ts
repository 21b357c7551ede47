/** What the runtime can do beyond the least, asked when a pod needs it: few do. */
import type { CallOptions, Cri } from '../../cri/calls.ts';
import type { Container } from '../../pod/api/schema/container.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { lookUp } from '../../pod/lookUp.ts';

/** The first versions that mount images; of other runtimes nothing is known, and they are asked to. */
const WITH_IMAGE_VOLUMES: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  containerd: [2, 1],
  'cri-o': [1, 31],
};

/** Fails with `FailedMount` where the runtime is known to have no image volumes: it would make a container without. */
export async function requireImageVolumes(
  cri: Pick<Cri, 'version'>,
  volume: string,
  options: CallOptions,
): Promise<void> {
  const { runtimeName, runtimeVersion } = await cri.version({ version: '' }, options);
  const [major, minor] = lookUp(WITH_IMAGE_VOLUMES, runtimeName) ?? [0, 0];
  const [hasMajor = 0, hasMinor = 0] = runtimeVersion.replace(/^v/, '').split('.').map(Number);
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return;
  const message = `volume "${volume}": the runtime ${runtimeName} ${runtimeVersion} has no image volumes (they come with ${major}.${minor})`;
  throw new NodeFailure('FailedMount', message);
}

/** Whether the runtime can make mounts read-only with all that is mounted in them; asked for where a container wants it. */
export async function recursiveReadOnly(
  cri: Cri,
  container: Container,
  handlerOf: () => Promise<string>,
  options: CallOptions,
): Promise<boolean> {
  const wants = (container.volumeMounts ?? []).some(({ recursiveReadOnly: mode = 'Disabled' }) => mode !== 'Disabled');
  if (!wants) return false;
  const handler = await handlerOf();
  const { runtimeHandlers } = await cri.status({ verbose: false }, options);
  const found = runtimeHandlers.find(({ name }) => name === handler);
  return found?.features?.recursiveReadOnlyMounts ?? false;
}

/** Fails where the runtime can not give a pod users of its own: with the host's it would have more than it was written for. */
export async function requireUserNamespaces(cri: Pick<Cri, 'status'>, handler: string, options: CallOptions) {
  const { runtimeHandlers } = await cri.status({ verbose: false }, options);
  if (runtimeHandlers.find(({ name }) => name === handler)?.features?.userNamespaces) return;
  const who = handler === '' ? 'runtime' : `RuntimeClass handler "${handler}"`;
  const message = `can't set \`spec.hostUsers: false\`, ${who} does not support user namespaces`;
  throw new NodeFailure('FailedCreatePodSandBox', `Failed to create pod sandbox: ${message}`);
}
