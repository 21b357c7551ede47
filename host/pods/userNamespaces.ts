/**
 * Allocates ranges of host user IDs to pods with user namespaces. Records the range in the pod's directory, as the
 * kubelet does.
 */
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../files/fileErrors.ts';
import type { Layout } from './layout.ts';
import { listPodDirectories } from './podDirectory.ts';

/** Range of host user and group IDs to which the IDs of a pod, starting at 0, are mapped. */
interface IdRange {
  readonly hostId: number;
  readonly length: number;
}

/** Allocates the ID ranges of pods with user namespaces. */
export interface UserNamespaces {
  /** Returns the range of a pod. The range stays the same until the pod's directory is removed. */
  readonly getRange: (uid: string) => Promise<IdRange>;
}

const RECORD_FILE_NAME = 'userns';
const IDS_PER_POD = 65_536;

const mappingSchema = z.object({ hostId: z.int(), containerId: z.literal(0), length: z.int() });
const mappingsSchema = z.object({ uidMappings: z.tuple([mappingSchema]), gidMappings: z.tuple([mappingSchema]) });

/**
 * Returns the number of ranges available to pods. All 32-bit IDs are used except for the first range, which belongs to
 * the host. The kubelet does the same on a host without a `kubelet` user (`getKubeletMappings` in
 * `pkg/kubelet/kubelet_pods.go`).
 */
export const countIdRanges = (idsPerPod = IDS_PER_POD): number => Math.floor(2 ** 32 / idsPerPod) - 1;

/** Allocates consecutive ranges. The first range belongs to the host. */
export function createUserNamespaces({
  layout,
  maxPodCount,
  idsPerPod = IDS_PER_POD,
}: {
  readonly layout: Layout;
  /** Maximum number of pods with user namespaces, including removed pods whose directories still exist. */
  readonly maxPodCount: number;
  readonly idsPerPod?: number | undefined;
}): UserNamespaces {
  let previousAllocation: Promise<unknown> = Promise.resolve();
  const allocate = async (uid: string): Promise<IdRange> => {
    const existingRange = await readRange(layout, uid);
    if (existingRange) return existingRange;
    const ranges = await Promise.all((await listPodDirectories(layout)).map((podUid) => readRange(layout, podUid)));
    const hostId = findFreeRange(
      ranges.flatMap((range) => range ?? []),
      { pods: maxPodCount, idsPerPod },
    );
    const newRange = { hostId, length: idsPerPod };
    await writeRange(layout, uid, newRange);
    return newRange;
  };
  return {
    // Allocate sequentially, so that no two pods get the same range.
    getRange: (uid) => {
      const allocation = previousAllocation.then(
        () => allocate(uid),
        () => allocate(uid),
      );
      previousAllocation = allocation;
      return allocation;
    },
  };
}

function findFreeRange(ranges: readonly IdRange[], { pods, idsPerPod }: { pods: number; idsPerPod: number }): number {
  for (let index = 1; index <= pods; index += 1) {
    const candidateId = index * idsPerPod;
    if (!ranges.some(({ hostId, length }) => candidateId < hostId + length && hostId < candidateId + idsPerPod))
      return candidateId;
  }
  throw new NodeFailure('FailedCreatePodSandBox', 'could not find an empty slot to allocate a user namespace');
}

/**
 * Reads the recorded range of a pod. Throws if the file is invalid, because with a new range the pod would lose access
 * to its files.
 */
async function readRange(layout: Layout, uid: string): Promise<IdRange | undefined> {
  const recordPath = path.join(layout.podDir(uid), RECORD_FILE_NAME);
  const contents = await layout.files.readFile(recordPath).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    // Add the path, because read errors such as EISDIR do not contain it.
    throw new NodeFailure('FailedCreatePodSandBox', `${recordPath}: ${messageOf(error)}`, { cause: error });
  });
  if (contents === undefined) return undefined;
  try {
    const [{ hostId, length }] = mappingsSchema.parse(JSON.parse(contents)).uidMappings;
    return { hostId, length };
  } catch (cause) {
    throw new NodeFailure('FailedCreatePodSandBox', `invalid user namespace mappings file: ${recordPath}`, { cause });
  }
}

async function writeRange(layout: Layout, uid: string, { hostId, length }: IdRange): Promise<void> {
  const mappings = [{ hostId, containerId: 0, length }];
  const recordPath = path.join(layout.podDir(uid), RECORD_FILE_NAME);
  await layout.files.writeFile(`${recordPath}.new`, JSON.stringify({ uidMappings: mappings, gidMappings: mappings }), {
    flush: true,
  });
  await layout.files.rename(`${recordPath}.new`, recordPath);
}
