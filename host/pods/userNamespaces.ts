/** The user namespaces of pods: each has a range of the host's users for itself, noted in its directory as a kubelet does. */
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../files/fileErrors.ts';
import type { Layout } from './layout.ts';
import { podDirectories } from './podDirectory.ts';

/** Users and groups of the host: so many from this one on are those of a pod from 0 on. */
interface IdRange {
  readonly hostId: number;
  readonly length: number;
}

/** Who gives the ranges out. */
export interface UserNamespaces {
  /** The range of a pod, the same each time until its directory is removed. */
  readonly rangeOf: (uid: string) => Promise<IdRange>;
}

const FILE = 'userns';
const IDS_PER_POD = 65_536;

const mapping = z.object({ hostId: z.int(), containerId: z.literal(0), length: z.int() });
const file = z.object({ uidMappings: z.tuple([mapping]), gidMappings: z.tuple([mapping]) });

/** Gives out ranges behind one another; the first ids are the host's own. */
export function userNamespaces({
  layout,
  pods,
  idsPerPod = IDS_PER_POD,
}: {
  readonly layout: Layout;
  /** How many there can be. */
  readonly pods: number;
  readonly idsPerPod?: number;
}): UserNamespaces {
  let last: Promise<unknown> = Promise.resolve();
  const give = async (uid: string): Promise<IdRange> => {
    const known = await readRange(layout, uid);
    if (known) return known;
    const taken = await Promise.all((await podDirectories(layout)).map((each) => readRange(layout, each)));
    const hostId = firstFree(
      taken.flatMap((each) => each ?? []),
      { pods, idsPerPod },
    );
    const range = { hostId, length: idsPerPod };
    await writeRange(layout, uid, range);
    return range;
  };
  return {
    // One after the other, so that no two find the same range free.
    rangeOf: (uid) => {
      const turn = last.then(
        () => give(uid),
        () => give(uid),
      );
      last = turn;
      return turn;
    },
  };
}

function firstFree(taken: readonly IdRange[], { pods, idsPerPod }: { pods: number; idsPerPod: number }): number {
  for (let index = 1; index <= pods; index += 1) {
    const from = index * idsPerPod;
    if (!taken.some(({ hostId, length }) => from < hostId + length && hostId < from + idsPerPod)) return from;
  }
  throw new NodeFailure('FailedCreatePodSandBox', 'could not find an empty slot to allocate a user namespace');
}

/** A file that says anything else is not ours to guess at: a second range would cut the pod off from its files. */
async function readRange(layout: Layout, uid: string): Promise<IdRange | undefined> {
  const name = path.join(layout.podDir(uid), FILE);
  const text = await layout.files.readFile(name).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    // The error of a read, as of a directory, does not name the file.
    throw new NodeFailure('FailedCreatePodSandBox', `${name}: ${messageOf(error)}`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    const [{ hostId, length }] = file.parse(JSON.parse(text)).uidMappings;
    return { hostId, length };
  } catch (cause) {
    throw new NodeFailure('FailedCreatePodSandBox', `invalid user namespace mappings file: ${name}`, { cause });
  }
}

async function writeRange(layout: Layout, uid: string, { hostId, length }: IdRange): Promise<void> {
  const mappings = [{ hostId, containerId: 0, length }];
  const name = path.join(layout.podDir(uid), FILE);
  await layout.files.writeFile(`${name}.new`, JSON.stringify({ uidMappings: mappings, gidMappings: mappings }), {
    flush: true,
  });
  await layout.files.rename(`${name}.new`, name);
}
