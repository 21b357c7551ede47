import type { Cri } from '../calls.ts';
import { imageSpec } from '../images/imageSpec.ts';
import type { Layout } from './layout.ts';
import { type BuiltImage, ociArchive } from './ociArchive.ts';
import type { Pause } from './process.ts';
import { run } from './program.ts';

interface ImportInput {
  readonly layout: Layout;
  readonly images: readonly BuiltImage[];
  readonly cri: Cri;
  readonly snapshotter: string;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string) => void;
}

/** Gives the runtime those images that it does not have as they are, and waits until it shows them. */
export async function importImages({ layout, images, cri, signal, pause, ...input }: ImportInput): Promise<void> {
  const missing = () => absent(images, cri, signal);
  const wanted = await missing();
  if (wanted.length === 0) return;
  input.onProgress(`importing ${wanted.map(({ name }) => name).join(' and ')}`);
  const importFrom = ['--address', layout.socket, '--namespace', 'k8s.io', 'images', 'import'];
  await run('ctr', [...importFrom, '--snapshotter', input.snapshotter, '-'], { signal, input: ociArchive(wanted) });
  // The CRI hears of an image by an event.
  while ((await missing()).length > 0) {
    signal.throwIfAborted();
    await pause(5);
  }
}

async function absent(images: readonly BuiltImage[], cri: Cri, signal: AbortSignal): Promise<BuiltImage[]> {
  const isThere = async ({ name, id }: BuiltImage) => {
    const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
    return image?.id === id;
  };
  const there = await Promise.all(images.map(isThere));
  return images.filter((_, index) => !there[index]);
}
