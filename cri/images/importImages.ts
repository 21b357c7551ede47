/** The import of an image archive into the containerd in use, by the `ctr` that belongs to it. */
import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import { findProgram } from '../../host/program.ts';
import type { Cri } from '../calls.ts';
import { NAMESPACE } from '../managed/layout.ts';
import type { Pause } from '../managed/process.ts';
import { run } from '../managed/program.ts';
import type { ArchivedImage, ImageArchive } from './imageArchive.ts';
import { imageSpec } from './imageSpec.ts';

type ImportCri = Pick<Cri, 'version' | 'status' | 'imageStatus' | 'imageFsInfo'>;

export interface ArchiveImport {
  readonly cri: ImportCri;
  /** `unix:///…`, of the image service. */
  readonly endpoint: string;
  readonly archive: ImageArchive;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

/** Longest import, in milliseconds. */
const LONGEST_IMPORT_MS = 3_600_000;
/** The CRI plugin learns of a change by an event of containerd, within milliseconds. */
export const LOOK_MS = 20;
export const LOOKS = 500;

/** Imports the images and waits until the CRI shows them, so that a pod that starts next finds them. */
export async function importArchive({ cri, endpoint, archive, pause, signal }: ArchiveImport): Promise<void> {
  const { runtimeName } = await cri.version({ version: 'v1' }, { signal });
  if (runtimeName !== 'containerd') {
    const advice = 'import the archive with the tools of that runtime';
    throw new NodeFailure(
      'Unimplemented',
      `images can only be imported into containerd, not ${runtimeName}: ${advice}`,
    );
  }
  await expectCtr('imports images');
  const snapshotter = await snapshotterOf(cri, signal);
  // Without unpacking, the first container of the image unpacks it.
  const unpacking = snapshotter === undefined ? ['--no-unpack'] : ['--snapshotter', snapshotter];
  await ctrImages(endpoint, ['import', ...unpacking, '-'], {
    signal,
    input: Readable.from(archive.content()),
    limitMs: LONGEST_IMPORT_MS,
  }).catch((cause: unknown) => {
    throw importFailure(archive, cause);
  });
  for (const image of archive.images) await visible(image, { cri, pause, signal });
}

/** Throws if the program of containerd that does what the CRI has no call for is missing. */
export async function expectCtr(purpose: string): Promise<void> {
  if ((await findProgram('ctr')) !== undefined) return;
  throw new NodeFailure('Unimplemented', `ctr, the program of containerd that ${purpose}, is not in PATH`);
}

/** Runs `ctr images` in the namespace of the CRI. */
export const ctrImages = (endpoint: string, args: readonly string[], options: Parameters<typeof run>[2]) =>
  run('ctr', ['--address', endpoint.replace(/^unix:\/\//, ''), '--namespace', NAMESPACE, 'images', ...args], options);

/** The words of `ctr` before the reason, which name the program and not the mistake. */
const CTR_PREFIX = /^ctr(?: \S+)*?: (?:ctr: )?/;

function importFailure({ label }: ImageArchive, cause: unknown): unknown {
  if (!(cause instanceof NodeFailure)) return cause;
  const why = cause.message.replace(CTR_PREFIX, '').trimEnd().split('\n').at(-1);
  return new NodeFailure('RuntimeError', `${label} cannot be imported: ${why}`, { cause });
}

async function visible(
  { name, id }: ArchivedImage,
  { cri, pause, signal }: Pick<ArchiveImport, 'cri' | 'pause' | 'signal'>,
): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
    if (image?.id === id) return;
    await pause(LOOK_MS);
  }
  const seconds = (LOOKS * LOOK_MS) / 1_000;
  throw new NodeFailure('RuntimeError', `${name} was imported, but the runtime does not show it after ${seconds} s`);
}

const configShape = z.object({
  sandboxImage: z.optional(z.string()),
  containerd: z.optional(z.object({ snapshotter: z.optional(z.string()) })),
});

/** Reads the configuration that containerd shows in its status. containerd 2 shows less of it. */
export async function runtimeConfig(
  cri: Pick<Cri, 'status'>,
  signal: AbortSignal,
): Promise<z.infer<typeof configShape>> {
  const { info } = await cri.status({ verbose: true }, { signal });
  const read = z.safeParse(configShape, parsedJson(lookUp(info, 'config') ?? ''));
  return read.success ? read.data : {};
}

/** Directory of a snapshotter. containerd 2 names its snapshotter nowhere else in the CRI. */
const SNAPSHOTTER_DIRECTORY = /\/io\.containerd\.snapshotter\.v1\.([\w.-]+)$/;

async function snapshotterOf(
  cri: Pick<Cri, 'status' | 'imageFsInfo'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { containerd } = await runtimeConfig(cri, signal);
  if (containerd?.snapshotter) return containerd.snapshotter;
  const { imageFilesystems } = await cri.imageFsInfo({}, { signal });
  return SNAPSHOTTER_DIRECTORY.exec(imageFilesystems[0]?.fsId?.mountpoint ?? '')?.[1];
}
