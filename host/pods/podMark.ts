/**
 * The mark in each directory that an agent makes for a pod: what bears none, or that of another agent, is nobody's here
 * to unmount, remove or overwrite. It is there from the first moment of the directory to the last; where a power cut took
 * its text, a stamp tells whose it was.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { allDone } from '../../base/allDone.ts';
import { messageOf } from '../../base/failure.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import { errorCode, isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { setAside } from '../files/setAside.ts';
import type { Layout } from './layout.ts';

/** The agent that a mark names. */
export interface Maker {
  /** Its root directory, absolute. */
  readonly root: string;
  readonly node: string;
  /** The endpoint of its runtime, as `unix:///…`. */
  readonly runtime: string;
}

/** Whose pod a directory is of, as its mark tells. */
interface MarkedPod {
  readonly namespace: string;
  readonly name: string;
}

/** How a directory stands to an agent. */
export type DirectoryOwner =
  | { readonly kind: 'missing' }
  /**
   * `pod` and `runtime` are those that the mark names; `pod` is absent where the mark was cut off. `isTaken`: the pod was
   * taken over, with all that is at the runtime of it.
   */
  | { readonly kind: 'ours'; readonly pod?: MarkedPod; readonly runtime: string; readonly isTaken: boolean }
  /**
   * Without a mark that can be read: an earlier version of the agent wrote none. `isCutOff`: a power cut may have left so
   * little of one that this agent was writing, or another. `damagedMark`: the path of a mark that cannot be read.
   */
  | { readonly kind: 'unmarked'; readonly why: string; readonly isCutOff?: true; readonly damagedMark?: string }
  /** Made by another agent. */
  | { readonly kind: 'others'; readonly why: string }
  /** A link or a file; or not to be read now, for a cause that may pass. */
  | { readonly kind: 'unusable'; readonly why: string; readonly cause?: unknown };

export const MARK_FILE = '.statelet.json';
const NEW = '.statelet-new-';
const OLD = '.statelet-old-';
const LARGEST_MARK = 64 * 1024;

const markSchema = z.object({
  root: z.string(),
  node: z.string(),
  runtime: z.string(),
  pod: z.object({ namespace: z.string(), name: z.string() }),
  taken: z.optional(z.boolean()),
});

/** Reads whose a directory is: on the spot, for the kernel has at hand what is asked for. */
export function ownerOf(files: FileSystem, directory: string, maker: Maker): DirectoryOwner {
  try {
    const found = files.lstatSync(directory);
    if (found === undefined) return { kind: 'missing' };
    if (found.isSymbolicLink()) return { kind: 'unusable', why: 'it is a symbolic link' };
    if (!found.isDirectory()) return { kind: 'unusable', why: 'it is not a directory' };
    return ownerByMark(files, path.join(directory, MARK_FILE), maker);
  } catch (error) {
    if (isMissing(error)) return { kind: 'missing' };
    return { kind: 'unusable', why: `it cannot be read: ${messageOf(error)}`, cause: error };
  }
}

/** The same for who removes: what cannot be read now fails, for who took it for somebody else's would leave it for ever. */
export function knownOwnerOf(files: FileSystem, directory: string, maker: Maker): DirectoryOwner {
  const owner = ownerOf(files, directory, maker);
  if (owner.kind === 'unusable' && owner.cause !== undefined) throw owner.cause;
  return owner;
}

/** What stands in the place of a mark and cannot be made sense of; undefined where it is no file, or too large for one. */
interface Damaged {
  readonly damaged: string | undefined;
}

/** What a mark says. */
function readMark(files: FileSystem, file: string): z.infer<typeof markSchema> | 'missing' | Damaged {
  const found = files.lstatSync(file);
  if (found === undefined) return 'missing';
  if (!found.isFile() || found.size > LARGEST_MARK) return { damaged: undefined };
  const text = files.readFileSync(file);
  const read = markSchema.safeParse(parsedJson(text));
  return read.success ? read.data : { damaged: text };
}

/** The agent over a root that has marked a pod's directory; undefined where none has. */
export function makerOfMark(files: FileSystem, directory: string, root: string): Maker | undefined {
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

function ownerByMark(files: FileSystem, file: string, maker: Maker): DirectoryOwner {
  const mark = readMark(files, file);
  if (mark === 'missing') return { kind: 'unmarked', why: "it does not have this agent's mark" };
  if ('damaged' in mark) {
    const left = mark.damaged === undefined ? undefined : cutOffMark(mark.damaged, maker);
    if (left === 'ours' || (left !== undefined && isStamped(files, path.dirname(file), maker)))
      return { kind: 'ours', runtime: maker.runtime, isTaken: false };
    const why = `its mark ${MARK_FILE} is damaged`;
    return { kind: 'unmarked', why, damagedMark: file, ...(left === undefined ? {} : { isCutOff: true }) };
  }
  const { root, node, runtime, pod, taken = false } = mark;
  if (!files.isSamePathSync(root, maker.root))
    return { kind: 'others', why: `created by the agent with the root directory ${root}` };
  if (node !== maker.node) return { kind: 'others', why: `created by the agent of node ${node}` };
  return { kind: 'ours', pod, runtime, isTaken: taken };
}

/**
 * What a power cut may leave of a mark is its beginning, or an empty file: `ours` where it still names this agent, else
 * `anyone's` if it may have been ours.
 */
function cutOffMark(text: string, { root, node, runtime }: Maker): 'ours' | "anyone's" | undefined {
  const [named, beginning] = [
    { root, node },
    { root, node, runtime },
  ].map((each) => JSON.stringify(each).slice(0, -1));
  const written = text.replace(/\0+$/, '');
  if (!beginning?.startsWith(written) && !written.startsWith(`${beginning},`)) return undefined;
  return written.startsWith(`${named},`) ? 'ours' : "anyone's";
}

/**
 * The name of an empty directory beside the mark. Marks are not synced: a power cut within half a minute may leave a
 * directory with an empty mark. File systems with a journal keep names in the order in which they were made, so a stamp
 * is there whenever its directory is.
 */
const stampOf = ({ root, node }: Maker): string => `.statelet-by-${short(`${node}@${root}`)}`;

const isStamped = (files: FileSystem, directory: string, maker: Maker): boolean =>
  files.lstatSync(path.join(directory, stampOf(maker)))?.isDirectory() === true;

interface Marking {
  readonly layout: Pick<Layout, 'files' | 'underway'>;
  readonly maker: Maker;
  readonly pod: MarkedPod;
  readonly isTaken?: boolean;
}

/**
 * Makes a directory that bears the mark from its first moment on, and those above it that are missing; false when something
 * is there already, which stays as it is.
 */
export async function makeMarked(directory: string, marking: Marking, mode: number): Promise<boolean> {
  const { files, underway } = marking.layout;
  const fresh = besideOf(directory, NEW, marking.maker);
  const text = textOf(marking);
  underway.add(fresh);
  try {
    await makeFresh(files, fresh, mode);
    await allDone([
      files.mkdir(path.join(fresh, stampOf(marking.maker)), { recursive: true, mode }),
      files.writeFile(path.join(fresh, MARK_FILE), text),
    ]);
    await files.rename(fresh, directory);
    return true;
  } catch (error) {
    await files.rm(fresh, { recursive: true, force: true }).catch(() => {});
    const code = errorCode(error);
    if (code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR') return false;
    throw error;
  } finally {
    underway.delete(fresh);
  }
}

/** The directories above are there but for the first time; one that was begun before is gone on with. */
async function makeFresh(files: FileSystem, directory: string, mode: number): Promise<void> {
  try {
    await files.mkdir(directory, { mode });
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== 'EEXIST') throw error;
    await files.mkdir(directory, { recursive: true, mode });
  }
}

/** Puts the mark into a directory that is there: it is this agent's from now on. */
export async function writeMark(directory: string, marking: Marking): Promise<void> {
  const { files } = marking.layout;
  const file = path.join(directory, MARK_FILE);
  const fresh = `${file}.new`;
  try {
    await files.writeFile(fresh, textOf(marking), { flush: true });
    // A directory in its place would refuse the mark, and so the pod, forever.
    if (files.lstatSync(file)?.isDirectory()) await setAside(files, file);
    await files.rename(fresh, file);
  } catch (error) {
    await files.rm(fresh, { force: true }).catch(() => {});
    throw error;
  }
}

function textOf({ maker: { root, node, runtime }, pod: { namespace, name }, isTaken = false }: Marking): string {
  return `${JSON.stringify({ root, node, runtime, pod: { namespace, name }, ...(isTaken ? { taken: true } : {}) })}\n`;
}

/** The name under which a directory lies while it is being removed: its mark may go before the rest of it does. */
export const nameOfRemoved = (directory: string, maker: Maker): string => besideOf(directory, OLD, maker);

/** Whether a directory is one that an agent with this root has begun to make or to remove. */
export function isHalfDone(directory: string, { root }: Maker): boolean {
  const name = path.basename(directory);
  return [OLD, NEW].some((prefix) => name.startsWith(`${prefix}${short(root)}-`));
}

/** Beside it, under a name of one length: that of the directory may be as long as a name can be. */
const besideOf = (directory: string, prefix: string, { root }: Maker): string =>
  path.join(path.dirname(directory), `${prefix}${short(root)}-${short(path.basename(directory))}`);

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
