/** Imports an image archive into a running containerd with its `ctr` program. */
import { Readable } from 'node:stream';
import { NodeFailure } from '../../base/failure.ts';
import { findProgram } from '../../host/program.ts';
import type { Cri } from '../client/calls.ts';
import type { Pause } from '../managed/containerd/process.ts';
import { CRI_NAMESPACE } from '../managed/layout.ts';
import { run } from '../managed/program.ts';
import type { ArchivedImage, ImageArchive } from './imageArchive.ts';
import { imageSpec } from './imageSpec.ts';
import { runtimeConfig } from './runtimeConfig.ts';

type ImportRuntime = Pick<Cri, 'version' | 'status' | 'imageStatus' | 'imageFsInfo'>;

export interface ArchiveImport {
  readonly cri: ImportRuntime;
  /** Endpoint of the image service (`unix:///…`). */
  readonly endpoint: string;
  readonly archive: ImageArchive;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

/** Time limit of an import in milliseconds. The import fails when it is exceeded. */
const IMPORT_TIMEOUT_MS = 3_600_000;
/**
 * Polling interval for image changes, in milliseconds. It is short, because containerd notifies its CRI plugin within
 * milliseconds.
 */
export const POLL_INTERVAL_MS = 20;
export const MAX_POLLS = 500;

/**
 * Imports the images and waits until the CRI lists them, because pods that are started afterwards must be able to use
 * them.
 */
export async function importArchive({ cri, endpoint, archive, pause, signal }: ArchiveImport): Promise<void> {
  const { runtimeName } = await cri.version({ version: 'v1' }, { signal });
  if (runtimeName !== 'containerd') {
    const advice = 'import the archive with the tools of that runtime';
    throw new NodeFailure(
      'Unimplemented',
      `images can only be imported into containerd, not ${runtimeName}: ${advice}`,
    );
  }
  await requireCtr('imports images');
  const snapshotter = await readSnapshotter(cri, signal);
  // If the snapshotter is unknown, let containerd unpack the image when its first container starts.
  const unpackArguments = snapshotter === undefined ? ['--no-unpack'] : ['--snapshotter', snapshotter];
  await runCtrImages(endpoint, ['import', ...unpackArguments, '-'], {
    signal,
    input: Readable.from(archive.content()),
    timeoutMs: IMPORT_TIMEOUT_MS,
  }).catch((cause: unknown) => {
    throw importFailure(archive, cause);
  });
  for (const image of archive.images) await waitUntilVisible(image, { cri, pause, signal });
}

/** Throws if `ctr` is not installed. The program is needed for operations for which the CRI has no call. */
export async function requireCtr(purpose: string): Promise<void> {
  if ((await findProgram('ctr')) !== undefined) return;
  throw new NodeFailure('Unimplemented', `ctr, the program of containerd that ${purpose}, is not in PATH`);
}

/** Runs `ctr images` in the CRI's namespace. */
export const runCtrImages = (endpoint: string, args: readonly string[], options: Parameters<typeof run>[2]) =>
  run(
    'ctr',
    ['--address', endpoint.replace(/^unix:\/\//, ''), '--namespace', CRI_NAMESPACE, 'images', ...args],
    options,
  );

/** Pattern of the prefix of errors from `ctr`, which names the program rather than the problem. */
const CTR_PREFIX = /^ctr(?: \S+)*?: (?:ctr: )?/;

function importFailure({ label }: ImageArchive, cause: unknown): unknown {
  if (!(cause instanceof NodeFailure)) return cause;
  const reason = cause.message.replace(CTR_PREFIX, '').trimEnd().split('\n').at(-1);
  return new NodeFailure('RuntimeError', `${label} cannot be imported: ${reason}`, { cause });
}

async function waitUntilVisible(
  { name, id }: ArchivedImage,
  { cri, pause, signal }: Pick<ArchiveImport, 'cri' | 'pause' | 'signal'>,
): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
    if (image?.id === id) return;
    await pause(POLL_INTERVAL_MS);
  }
  const seconds = (MAX_POLLS * POLL_INTERVAL_MS) / 1_000;
  throw new NodeFailure('RuntimeError', `${name} was imported, but the runtime does not show it after ${seconds} s`);
}

/** Path of a snapshotter's directory. containerd 2 does not report the name of its snapshotter in any other way. */
const SNAPSHOTTER_DIRECTORY = /\/io\.containerd\.snapshotter\.v1\.([\w.-]+)$/;

async function readSnapshotter(
  cri: Pick<Cri, 'status' | 'imageFsInfo'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { containerd } = await runtimeConfig(cri, { signal });
  if (containerd?.snapshotter) return containerd.snapshotter;
  const { imageFilesystems } = await cri.imageFsInfo({}, { signal });
  return SNAPSHOTTER_DIRECTORY.exec(imageFilesystems[0]?.fsId?.mountpoint ?? '')?.[1];
}
