/** `statelet image`: lists, imports, pulls and removes images of the container runtime. */
import { constants } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod/mini';
import { waitOnce } from '../../../actors/alarm.ts';
import { pullWithCredentials } from '../../../actors/services/images/imageServices.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { printableText } from '../../../base/text/printable.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { runtimeMessageWithCode } from '../../../cri/client/failure.ts';
import { labeledContainerName, POD_NAME_LABEL, POD_NAMESPACE_LABEL } from '../../../cri/config/labels.ts';
import { type Container, ContainerState, type Image } from '../../../cri/generated/runtime.ts';
import { createDecompressors, maxUnpackedBytes } from '../../../cri/images/compression.ts';
import { expansionMessage, fullName, type ImageArchive, readImageArchive } from '../../../cri/images/imageArchive.ts';
import { imageSpec } from '../../../cri/images/imageSpec.ts';
import { importArchive } from '../../../cri/images/importImages.ts';
import { namesToRemove, removeNames } from '../../../cri/images/removeNames.ts';
import { runtimeConfig } from '../../../cri/images/runtimeConfig.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { isoTime } from '../../../kubernetes/api/values/rfc3339.ts';
import type { ImageUse } from '../../../kubernetes/images/imageGarbage.ts';
import { createCredentialFinder } from '../../../node/credentials/createCredentialFinder.ts';
import { decimalSize, type ImageRow, imageTable, removalText, shortId } from '../../../show/tables/imageTable.ts';
import type { CredentialSources, RuntimeEndpoints } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { connectAgent } from '../../connectAgent.ts';
import { objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';

export interface RuntimeOptions {
  readonly containerRuntimeEndpoint?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

export interface ImageListOptions extends RuntimeOptions {
  readonly output?: string;
  readonly headers?: boolean;
}

export interface ImageImportOptions extends RuntimeOptions {
  readonly name?: string;
}

type Write = (text: string) => unknown;

const REQUEST_TIMEOUT_MS = 10_000;

/** A runtime, and the paths of the node's registry credentials. */
interface NodeRuntime extends RuntimeEndpoints {
  readonly rootDirectory: string;
  readonly registryCredentials: Partial<CredentialSources>;
  /** The agent of the node. Undefined if a flag names the runtime. */
  readonly agent?: AgentClient;
}

interface ConnectedRuntime extends Pick<NodeRuntime, 'rootDirectory' | 'registryCredentials' | 'agent'> {
  readonly cri: Cri;
  readonly imageEndpoint: string;
}

const nodeSchema = z.object({
  simulated: z.boolean(),
  endpoints: z.object({ runtime: z.string(), images: z.string() }),
  registryCredentials: z.object({
    workingDirectory: z.string(),
    homeDirectory: z.string(),
    providers: z.exactOptional(z.object({ config: z.string(), binDir: z.string() })),
  }),
});

/** Returns the runtime that `--container-runtime-endpoint` names, or else the runtime of the running agent. */
async function findRuntime(options: RuntimeOptions): Promise<NodeRuntime> {
  const { containerRuntimeEndpoint: endpoint, rootDir } = options;
  if (endpoint !== undefined) {
    return { runtime: endpoint, images: endpoint, rootDirectory: rootDir ?? process.cwd(), registryCredentials: {} };
  }
  const agent = await connectAgent(options);
  const { simulated, endpoints, registryCredentials } = nodeSchema.parse(await agent.json('/node'));
  if (simulated) {
    const reason = 'the agent runs on the simulated runtime, which needs no images';
    throw new NodeFailure('Unimplemented', `${reason}: start it as root on Linux for real containers`);
  }
  return { ...endpoints, rootDirectory: dirname(agent.path), registryCredentials, agent };
}

async function withRuntime<T>(options: RuntimeOptions, action: (runtime: ConnectedRuntime) => Promise<T>): Promise<T> {
  const { runtime: runtimeEndpoint, images: imageEndpoint, ...node } = await findRuntime(options);
  const cri = connectCri({ runtimeEndpoint, imageEndpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  try {
    return await action({ cri, imageEndpoint, ...node });
  } finally {
    cri.close();
  }
}

/** This signal never aborts, because commands run until they complete or the process exits. */
const { signal } = new AbortController();

const pause = (ms: number) => waitOnce(systemClock.now() + ms, systemClock, signal);

/** Prints the images of the runtime, or only those with the given names. */
export async function listImages(names: readonly string[], options: ImageListOptions, write: Write): Promise<void> {
  const format = await readFormat(options);
  const { images, uses } = await withRuntime(options, async ({ cri, agent }) => ({
    images: await findImages(cri, names),
    uses: await readImageUses(agent),
  }));
  const now = systemClock.now();
  const objectOf = (image: Image) => imageObject(image, uses.get(image.id), now);
  const isEmpty = images.length === 0;
  if (format.kind === 'text') {
    return void write(await format.formatValue({ images: images.map(objectOf) }));
  }
  if (isEmpty) return void process.stderr.write('No images found\n');
  const { wide, headers } = { wide: false, headers: true, ...format };
  const printTable = (each: readonly Image[]) => {
    const rowOf = (image: Image) => imageRow(image, uses.get(image.id));
    const [header = [], ...rows] = imageTable(each.map(rowOf), { wide, now });
    tablePrinter(write, { headers }).print(header, rows);
  };
  const nameOf = (image: Image) => image.repoTags[0] ?? image.repoDigests[0] ?? image.id;
  await objectPrinter(format, { nameOf, objectOf, printTable }, write)(images);
}

const imageUsesSchema = z.object({
  images: z.array(
    z.object({
      id: z.string(),
      users: z.array(z.string()),
      isPinned: z.boolean(),
      unusedSince: z.exactOptional(z.number()),
      position: z.exactOptional(z.number()),
      thresholdPercent: z.exactOptional(z.number()),
      expiresAt: z.exactOptional(z.number()),
    }),
  ),
});

/**
 * Returns how the node uses each image according to the agent, keyed by image ID. Empty if there is no agent or it is
 * too old to report this.
 */
async function readImageUses(agent: AgentClient | undefined): Promise<ReadonlyMap<string, ImageUse>> {
  if (agent === undefined) return new Map();
  const response = await agent.json('/images').catch((error: unknown) => {
    if (error instanceof NodeFailure && error.reason === 'NotFound') return { images: [] };
    throw error;
  });
  return new Map(imageUsesSchema.parse(response).images.map((use) => [use.id, use]));
}

async function findImages(cri: Cri, names: readonly string[]): Promise<Image[]> {
  if (names.length === 0) return (await cri.listImages({ filter: undefined }, { signal })).images;
  const images = await Promise.all(names.map((name) => findImage(cri, name)));
  return [...new Map(images.map((image) => [image.id, image])).values()];
}

async function findImage(cri: Pick<Cri, 'imageStatus'>, name: string): Promise<Image> {
  const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
  if (image === undefined) throw new NodeFailure('NotFound', `image "${name}" not found`);
  return image;
}

const imageRow = ({ id, repoTags, repoDigests, size, pinned }: Image, use: ImageUse | undefined): ImageRow => ({
  id,
  repoTags,
  repoDigests,
  pinned,
  sizeBytes: Number(size),
  use,
});

/**
 * Returns the object that represents an image in JSON and YAML. Contains the fields of `crictl images -o json` and, if
 * the agent reports it, how the image is used.
 */
const imageObject = (
  { id, repoTags, repoDigests, size, uid, username, pinned }: Image,
  use: ImageUse | undefined,
  now: number,
) => ({
  id,
  repoTags,
  repoDigests,
  size: String(size),
  uid: uid === undefined ? null : { value: String(uid.value) },
  username,
  pinned,
  ...(use && {
    usedBy: use.users,
    unusedSince: use.unusedSince === undefined ? null : isoTime(use.unusedSince),
    removed: removalText(use, now),
  }),
});

/**
 * Pulls images with the node's own credentials. Writes no pull records, because the agent caches them in memory and
 * would not see new ones. The images are therefore treated as preloaded (`pkg/kubelet/images/pullmanager`).
 */
export async function pullImages(names: readonly string[], options: RuntimeOptions, write: Write): Promise<void> {
  const imageNames = names.map((name) => fullName(name, 'image pull'));
  await withRuntime(options, async ({ cri, rootDirectory, registryCredentials }) => {
    const { providers, ...directories } = registryCredentials;
    const credentialSources = {
      rootDirectory,
      ...directories,
      ...(providers ? { credentialProviders: providers } : {}),
    };
    const logWarning = (message: string) => void process.stderr.write(printableText(`${message}\n`));
    const findCredentials = await createCredentialFinder(credentialSources, { logWarning, signal });
    for (const image of imageNames) {
      const credentials = await findCredentials({ repository: image.replace(/(?::[^/:@]*)?(?:@.*)?$/, ''), signal });
      const pull = (auth: Parameters<Parameters<typeof pullWithCredentials>[1]>[0]) =>
        cri.pullImage({ image: imageSpec(image), auth, sandboxConfig: undefined }, { signal });
      const { imageRef } = await pullWithCredentials(credentials, async (auth) => (await pull(auth)).imageRef).catch(
        (cause) => {
          throw pullError(image, cause);
        },
      );
      write(`pulled ${image} (${imageSummary(await findImage(cri, imageRef))})\n`);
    }
  });
}

const IMPORT_ADVICE = '"statelet image import FILE.tar" needs no registry';

function pullError(image: string, cause: unknown): unknown {
  if (!(cause instanceof NodeFailure) || cause.reason === 'RuntimeUnavailable') return cause;
  return new NodeFailure('ErrImagePull', `${image}: ${runtimeMessageWithCode(cause)}; ${IMPORT_ADVICE}`, { cause });
}

const imageSummary = ({ id, size }: Pick<Image, 'id' | 'size'>): string =>
  `${shortId(id)}, ${decimalSize(Number(size))}`;

/**
 * Removes the given images. Rejects if a container uses one of them, because the kubelet's garbage collection does not
 * remove such images either. If an image has other names, only the given name is removed.
 */
export async function removeImages(names: readonly string[], options: RuntimeOptions, write: Write): Promise<void> {
  await withRuntime(options, async ({ cri, imageEndpoint: endpoint }) => {
    for (const name of names) {
      const image = await findImage(cri, name);
      const use = await describeContainerUsing(image, cri);
      if (use !== undefined) throw new NodeFailure('Forbidden', `image "${name}" is in use by ${use}`);
      const removalPlan = namesToRemove(name, image);
      if (removalPlan.remainingNames.length > 0) {
        await removeNames(removalPlan, { cri, endpoint, pause, signal });
        write(
          `untagged ${removalPlan.removedNames.join(', ')} (${shortId(image.id)} still has ${removalPlan.remainingNames.join(', ')})\n`,
        );
        continue;
      }
      await cri.removeImage({ image: imageSpec(image.id) }, { signal });
      const removedNames = image.repoTags.length > 0 ? image.repoTags : image.repoDigests;
      write(`removed ${removedNames.join(', ') || image.id} (${imageSummary(image)})\n`);
    }
  });
}

/**
 * Describes a container that uses an image, or returns undefined if the image is unused. Terminated containers count,
 * because the kubelet does not remove their images either (`detectImages` in `pkg/kubelet/images/image_gc_manager.go`).
 */
async function describeContainerUsing(image: Image, cri: Cri): Promise<string | undefined> {
  const { sandboxImage } = await runtimeConfig(cri, { signal });
  const sandbox =
    sandboxImage && (await cri.imageStatus({ image: imageSpec(sandboxImage), verbose: false }, { signal }));
  if (image.pinned || (sandbox && sandbox.image?.id === image.id)) {
    return 'the sandboxes of all pods';
  }
  const { containers } = await cri.listContainers({ filter: undefined }, { signal });
  const references = new Set([image.id, ...image.repoTags, ...image.repoDigests]);
  const usesImage = (container: Container) =>
    [container.imageId, container.imageRef, container.image?.image ?? ''].some((each) => references.has(each));
  const containerUsingImage = containers.find(usesImage) ?? (await findMountingContainer(containers, references, cri));
  return containerUsingImage && describeContainer(containerUsingImage);
}

/** Finds a running container that mounts the image as a volume. */
async function findMountingContainer(
  containers: readonly Container[],
  references: ReadonlySet<string>,
  cri: Cri,
): Promise<Container | undefined> {
  for (const container of containers) {
    if (container.state !== ContainerState.CONTAINER_RUNNING) continue;
    const { status } = await cri.containerStatus({ containerId: container.id, verbose: false }, { signal });
    const mountedImages = status?.mounts.map((mount) => mount.image?.image ?? '') ?? [];
    if (mountedImages.some((each) => references.has(each))) return container;
  }
  return undefined;
}

function describeContainer(container: Container): string {
  const { labels, state } = container;
  const [namespace, pod] = [lookUp(labels, POD_NAMESPACE_LABEL), lookUp(labels, POD_NAME_LABEL)];
  const hasTerminated = state === ContainerState.CONTAINER_EXITED;
  const name = `${hasTerminated ? 'the terminated ' : ''}container ${labeledContainerName(container) || container.id}`;
  return pod === undefined ? name : `${name} of pod ${namespace}/${pod}`;
}

interface ImportStreams {
  readonly write: Write;
  /** Standard input, read if the file is `-`. */
  readonly input: Readable;
  /** Directory for temporary files. Defaults to the system's. */
  readonly temporaryDirectory?: string;
  /**
   * Maximum size in bytes of the decompressed archive and of its layers. Defaults to a limit derived from the size of
   * the file.
   */
  readonly maxBytes?: number;
}

/** Imports the images from an archive file into the runtime. */
export async function importImage(
  file: string,
  options: ImageImportOptions,
  { write, ...streams }: ImportStreams,
): Promise<void> {
  await withArchive(file, { ...options, ...streams }, async (archive) => {
    await withRuntime(options, async ({ cri, imageEndpoint }) => {
      await importArchive({ cri, endpoint: imageEndpoint, archive, pause, signal });
      for (const { name } of archive.images) {
        write(`imported ${name} (${imageSummary(await findImage(cri, name))})\n`);
      }
    });
  });
}

/**
 * Opens an archive for `action` and closes it afterwards. A compressed archive is decompressed into a temporary file,
 * because the members of an archive are read out of order.
 */
async function withArchive(
  path: string,
  { name, input, temporaryDirectory = tmpdir(), maxBytes }: Omit<ImportStreams, 'write'> & { readonly name?: string },
  action: (archive: ImageArchive) => Promise<void>,
): Promise<void> {
  const label = path === '-' ? 'the standard input' : path;
  const handles: FileHandle[] = [];
  const trackHandle = async (opening: Promise<FileHandle>) => {
    const handle = await opening;
    handles.push(handle);
    return handle;
  };
  try {
    let file = await trackHandle(path === '-' ? openUnnamedFile(temporaryDirectory) : openFile(path));
    if (path === '-') await pipeline(input, createFileWriter(file, { label, temporary: temporaryDirectory }));
    const { buffer: firstBytes } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const maxExpandedSize = maxBytes ?? maxUnpackedBytes((await file.stat()).size);
    const decompressors = createDecompressors(firstBytes);
    if (decompressors !== undefined) {
      const stream = file.createReadStream({ start: 0, autoClose: false });
      const decompressedFile = await trackHandle(openUnnamedFile(temporaryDirectory));
      const writer = createFileWriter(decompressedFile, { label, temporary: temporaryDirectory });
      await pipeline([stream, ...decompressors, createByteLimiter(maxExpandedSize, label), writer]).catch((cause) => {
        if (cause instanceof NodeFailure) throw cause;
        throw new NodeFailure('BadRequest', `${label} is truncated or damaged: ${messageOf(cause)}`, { cause });
      });
      file = decompressedFile;
    }
    await action(await readImageArchive(file, { label, name, maxUnpackedBytes: maxExpandedSize }));
  } finally {
    for (const handle of handles) await handle.close();
  }
}

/** Creates a stream that passes bytes through and fails after more than `limit` bytes. */
function createByteLimiter(limit: number, label: string): Transform {
  let byteCount = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      byteCount += chunk.length;
      if (byteCount > limit) done(new NodeFailure('BadRequest', expansionMessage(label, limit)));
      else done(null, chunk);
    },
  });
}

/** Creates an unlinked temporary file, so that its space is freed even if the process is killed. */
async function openUnnamedFile(temporaryDirectory: string): Promise<FileHandle> {
  const directory = await mkdtemp(join(temporaryDirectory, 'statelet-image-'));
  try {
    return await open(join(directory, 'archive'), 'wx+', 0o600);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Creates a stream that writes to an unlinked file. Write errors, e.g. because the disk is full, are attributed to the
 * host and not to the archive.
 */
function createFileWriter(
  file: FileHandle,
  { label, temporary }: { readonly label: string; readonly temporary: string },
): Writable {
  const storageError = (cause: unknown) => {
    const problemText = `${label} cannot be stored in ${temporary}: ${messageOf(cause)}; TMPDIR names another directory`;
    return new NodeFailure('RuntimeError', problemText, { cause });
  };
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      file.appendFile(chunk).then(
        () => done(),
        (cause) => done(storageError(cause)),
      );
    },
  });
}

async function openFile(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a FIFO would block until a writer opens it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    if (errorCode(cause) === 'ENOENT') throw new NodeFailure('NotFound', `${path}: no such file`, { cause });
    throw cause;
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new NodeFailure('BadRequest', `${path} is not a file: expected a tar archive of ${basename(path)}`);
}
