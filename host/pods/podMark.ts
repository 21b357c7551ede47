/**
 * Marks the directories that an agent creates for a pod. The agent does not unmount, remove or overwrite directories
 * without its mark. A directory has its mark from its creation to its removal. If a power failure destroys the contents
 * of the mark, a stamp identifies the agent.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { settleAll } from '../../base/async/settleAll.ts';
import { messageOf } from '../../base/failure.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import { errorCode, isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { quarantineFile } from '../files/quarantineFile.ts';
import type { Layout } from './layout.ts';

/** The agent that a mark identifies. */
export interface Maker {
  /** Absolute path of the agent's root directory. */
  readonly root: string;
  readonly node: string;
  /** Endpoint of the runtime, e.g. `unix:///…`. */
  readonly runtime: string;
}

/** The pod that a mark identifies. */
interface MarkedPod {
  readonly namespace: string;
  readonly name: string;
}

/** Ownership of a directory from the perspective of an agent. */
export type DirectoryOwner =
  | { readonly kind: 'missing' }
  /**
   * `pod` and `runtime` are taken from the mark. `pod` is undefined if the mark is truncated. `isTakenOver` means that the
   * pod was taken over, together with its containers in the runtime.
   */
  | { readonly kind: 'ours'; readonly pod?: MarkedPod; readonly runtime: string; readonly isTakenOver: boolean }
  /**
   * The directory has no valid mark, e.g. because an earlier version of the agent wrote none. `isCutOff` means that a
   * power failure may have truncated a mark of this agent or of another one. `damagedMark` is the path of a mark that
   * cannot be parsed.
   */
  | { readonly kind: 'unmarked'; readonly why: string; readonly isCutOff?: true; readonly damagedMark?: string }
  /** The directory was created by another agent. */
  | { readonly kind: 'others'; readonly why: string }
  /** The path is a link or a file, or it is temporarily unreadable because of `cause`. */
  | { readonly kind: 'unusable'; readonly why: string; readonly cause?: unknown };

export const MARK_FILE = '.statelet.json';
const NEW_PREFIX = '.statelet-new-';
const REMOVED_PREFIX = '.statelet-old-';
const MAX_MARK_BYTES = 64 * 1024;

const markSchema = z.object({
  root: z.string(),
  node: z.string(),
  runtime: z.string(),
  pod: z.object({ namespace: z.string(), name: z.string() }),
  taken: z.optional(z.boolean()),
});

/** Determines the owner of a directory. Works synchronously, because the kernel has this data in its cache. */
export function readOwner(files: FileSystem, directory: string, maker: Maker): DirectoryOwner {
  try {
    const stats = files.lstatSync(directory);
    if (stats === undefined) return { kind: 'missing' };
    if (stats.isSymbolicLink()) return { kind: 'unusable', why: 'it is a symbolic link' };
    if (!stats.isDirectory()) return { kind: 'unusable', why: 'it is not a directory' };
    return readOwnerFromMark(files, path.join(directory, MARK_FILE), maker);
  } catch (error) {
    if (isMissing(error)) return { kind: 'missing' };
    return { kind: 'unusable', why: `it cannot be read: ${messageOf(error)}`, cause: error };
  }
}

/**
 * Determines the owner for a removal. Throws if the directory is temporarily unreadable, because treating it as foreign
 * would leave it in place forever.
 */
export function requireOwner(files: FileSystem, directory: string, maker: Maker): DirectoryOwner {
  const owner = readOwner(files, directory, maker);
  if (owner.kind === 'unusable' && owner.cause !== undefined) throw owner.cause;
  return owner;
}

/**
 * An invalid mark. `damaged` contains its contents, or is undefined if the mark is not a regular file or is too large.
 */
interface DamagedMark {
  readonly damaged: string | undefined;
}

function readMark(files: FileSystem, file: string): z.infer<typeof markSchema> | 'missing' | DamagedMark {
  const stats = files.lstatSync(file);
  if (stats === undefined) return 'missing';
  if (!stats.isFile() || stats.size > MAX_MARK_BYTES) return { damaged: undefined };
  const contents = files.readFileSync(file);
  const result = markSchema.safeParse(parseJson(contents));
  return result.success ? result.data : { damaged: contents };
}

/**
 * Returns the agent that marked a pod's directory. Returns undefined if the mark is not valid or names a root directory
 * other than `root`.
 */
export function readMarkingAgent(files: FileSystem, directory: string, root: string): Maker | undefined {
  try {
    if (!files.lstatSync(directory)?.isDirectory()) return undefined;
    const mark = readMark(files, path.join(directory, MARK_FILE));
    if (mark === 'missing' || 'damaged' in mark || !files.isSamePathSync(mark.root, root)) return undefined;
    return { root, node: mark.node, runtime: mark.runtime };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function readOwnerFromMark(files: FileSystem, file: string, maker: Maker): DirectoryOwner {
  const mark = readMark(files, file);
  if (mark === 'missing') return { kind: 'unmarked', why: "it does not have this agent's mark" };
  if ('damaged' in mark) {
    const truncatedOwner = mark.damaged === undefined ? undefined : classifyTruncatedMark(mark.damaged, maker);
    if (truncatedOwner === 'ours' || (truncatedOwner !== undefined && isStamped(files, path.dirname(file), maker)))
      return { kind: 'ours', runtime: maker.runtime, isTakenOver: false };
    const why = `its mark ${MARK_FILE} is damaged`;
    return { kind: 'unmarked', why, damagedMark: file, ...(truncatedOwner === undefined ? {} : { isCutOff: true }) };
  }
  const { root, node, runtime, pod, taken = false } = mark;
  if (!files.isSamePathSync(root, maker.root))
    return { kind: 'others', why: `created by the agent with the root directory ${root}` };
  if (node !== maker.node) return { kind: 'others', why: `created by the agent of node ${node}` };
  return { kind: 'ours', pod, runtime, isTakenOver: taken };
}

/**
 * Classifies a mark that a power failure may have truncated. Returns `ours` if it still identifies this agent, or
 * `anyone's` if this agent or another one may have written it. Returns undefined if this agent did not write it.
 */
function classifyTruncatedMark(text: string, { root, node, runtime }: Maker): 'ours' | "anyone's" | undefined {
  const [agentPart, markStart] = [
    { root, node },
    { root, node, runtime },
  ].map((fields) => JSON.stringify(fields).slice(0, -1));
  const contents = text.replace(/\0+$/, '');
  if (!markStart?.startsWith(contents) && !contents.startsWith(`${markStart},`)) return undefined;
  return contents.startsWith(`${agentPart},`) ? 'ours' : "anyone's";
}

/**
 * Returns the name of the stamp, an empty directory next to the mark. Marks are not synced, so a power failure within
 * half a minute of writing may leave an empty mark. Journaling file systems preserve the order in which names are
 * created, so the stamp exists whenever the marked directory does.
 */
const stampName = ({ root, node }: Maker): string => `.statelet-by-${shortHash(`${node}@${root}`)}`;

const isStamped = (files: FileSystem, directory: string, maker: Maker): boolean =>
  files.lstatSync(path.join(directory, stampName(maker)))?.isDirectory() === true;

interface MarkInput {
  readonly layout: Pick<Layout, 'files' | 'inProgress'>;
  readonly maker: Maker;
  readonly pod: MarkedPod;
  readonly isTakenOver?: boolean;
}

/**
 * Creates a directory and its missing parents. The directory never exists without its mark. Returns false, without
 * changing anything, if the path already exists.
 */
export async function createMarkedDirectory(directory: string, marking: MarkInput, mode: number): Promise<boolean> {
  const { files, inProgress } = marking.layout;
  const temporaryDirectory = siblingPath(directory, NEW_PREFIX, marking.maker);
  const contents = serializeMark(marking);
  inProgress.add(temporaryDirectory);
  try {
    await createTemporary(files, temporaryDirectory, mode);
    await settleAll([
      files.mkdir(path.join(temporaryDirectory, stampName(marking.maker)), { recursive: true, mode }),
      files.writeFile(path.join(temporaryDirectory, MARK_FILE), contents),
    ]);
    await files.rename(temporaryDirectory, directory);
    return true;
  } catch (error) {
    await files.rm(temporaryDirectory, { recursive: true, force: true }).catch(() => {});
    const code = errorCode(error);
    if (code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR') return false;
    throw error;
  } finally {
    inProgress.delete(temporaryDirectory);
  }
}

/**
 * Creates the temporary directory, or uses one that remains from an earlier attempt. Creates the parent directories
 * only if they are missing, e.g. before the first pod.
 */
async function createTemporary(files: FileSystem, directory: string, mode: number): Promise<void> {
  try {
    await files.mkdir(directory, { mode });
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== 'EEXIST') throw error;
    await files.mkdir(directory, { recursive: true, mode });
  }
}

/** Writes the mark into an existing directory, which then belongs to this agent. */
export async function writeMark(directory: string, marking: MarkInput): Promise<void> {
  const { files } = marking.layout;
  const file = path.join(directory, MARK_FILE);
  const temporaryFile = `${file}.new`;
  try {
    await files.writeFile(temporaryFile, serializeMark(marking), { flush: true });
    // Move aside a directory at this path, because it would make every attempt to write the mark fail.
    if (files.lstatSync(file)?.isDirectory()) await quarantineFile(files, file);
    await files.rename(temporaryFile, file);
  } catch (error) {
    await files.rm(temporaryFile, { force: true }).catch(() => {});
    throw error;
  }
}

function serializeMark({
  maker: { root, node, runtime },
  pod: { namespace, name },
  isTakenOver = false,
}: MarkInput): string {
  return `${JSON.stringify({ root, node, runtime, pod: { namespace, name }, ...(isTakenOver ? { taken: true } : {}) })}\n`;
}

/**
 * Returns the path to which a directory is renamed for its removal. The name identifies the directory, because its mark
 * may be deleted before the rest.
 */
export const removedPath = (directory: string, maker: Maker): string => siblingPath(directory, REMOVED_PREFIX, maker);

/** Whether a path names a directory that an agent with this root directory was creating or removing. */
export function isLeftover(directory: string, { root }: Maker): boolean {
  const name = path.basename(directory);
  return [REMOVED_PREFIX, NEW_PREFIX].some((prefix) => name.startsWith(`${prefix}${shortHash(root)}-`));
}

/** Returns a sibling path with a name of fixed length, because the directory's own name may have the maximum length. */
const siblingPath = (directory: string, prefix: string, { root }: Maker): string =>
  path.join(path.dirname(directory), `${prefix}${shortHash(root)}-${shortHash(path.basename(directory))}`);

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
