import type { Cri } from '../../client/calls.ts';
import { imageSpec } from '../../images/imageSpec.ts';
import type { Pause } from '../containerd/process.ts';
import type { Layout } from '../layout.ts';
import { run } from '../program.ts';
import { type BuiltImage, ociArchive } from './ociArchive.ts';

interface ImportInput {
  readonly layout: Layout;
  readonly images: readonly BuiltImage[];
  readonly cri: Cri;
  readonly snapshotter: string;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string) => void;
}

/**
 * Imports the images that the runtime does not have in the required version, and waits until the runtime lists them.
 */
export async function importImages({ layout, images, cri, signal, pause, ...input }: ImportInput): Promise<void> {
  const listMissing = () => filterMissingImages(images, cri, signal);
  const missingImages = await listMissing();
  if (missingImages.length === 0) return;
  input.onProgress(`importing ${missingImages.map(({ name }) => name).join(' and ')}`);
  const importArguments = ['--address', layout.socket, '--namespace', 'k8s.io', 'images', 'import'];
  await run('ctr', [...importArguments, '--snapshotter', input.snapshotter, '-'], {
    signal,
    input: ociArchive(missingImages),
  });
  // Wait, because the CRI plugin is notified of an imported image asynchronously.
  while ((await listMissing()).length > 0) {
    signal.throwIfAborted();
    await pause(5);
  }
}

async function filterMissingImages(
  images: readonly BuiltImage[],
  cri: Cri,
  signal: AbortSignal,
): Promise<BuiltImage[]> {
  const isPresent = async ({ name, id }: BuiltImage) => {
    const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
    return image?.id === id;
  };
  const presenceFlags = await Promise.all(images.map(isPresent));
  return images.filter((_, index) => !presenceFlags[index]);
}
