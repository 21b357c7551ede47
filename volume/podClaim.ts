/** Takes the directory of a pod, and with it the folder of its logs, for this agent: made with its mark, or given it. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { NodeFailure } from '../pod/failure.ts';
import type { Layout, PodIdentity } from './layout.ts';
import { type Maker, makeMarked, type Standing, standingOf, writeMark } from './podMark.ts';

interface Claim {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly pod: PodIdentity;
}

const PRIVATE = 0o750;
const READABLE = 0o755;

/** Whose the directory of a pod is. */
export const standingOfPod = (layout: Layout, maker: Maker, uid: string): Standing =>
  standingOf(layout.podDir(uid), maker);

/** Whether the folder of a pod's logs was made by this agent: several may share the one above. */
export const hasOwnLogs = ({ layout, maker, pod }: Claim): boolean =>
  standingOf(layout.podLogDir(pod), maker).kind === 'ours';

/**
 * Sees to it that a pod's directory bears the mark of this agent, before anything else of the pod is made. A directory
 * that is there without it is adopted with the logs of the pod: then the answer is why it was not this agent's. Fails
 * where something other than a directory is in its place. Idempotent.
 */
export async function claimPod(claim: Claim): Promise<string | undefined> {
  const { layout, maker, pod } = claim;
  const directory = layout.podDir(pod.uid);
  const marking = { maker, pod };
  const found = standingOf(directory, maker);
  if (found.kind === 'unusable') throw unusable(directory, found.why);
  if (found.kind === 'unmarked' || found.kind === 'others') {
    await adoptPod(claim);
    return found.why;
  }
  if (found.kind === 'missing') {
    await mkdir(layout.podsDir, { recursive: true, mode: PRIVATE });
    // What has come there meanwhile is looked at anew.
    if (!(await makeMarked(directory, marking, PRIVATE))) return claimPod(claim);
  }
  await makeLogs(claim);
  return undefined;
}

/** Gives the directory of a pod, which is there, the mark of this agent, and the folder of its logs too. */
export async function adoptPod(claim: Claim): Promise<void> {
  const { layout, maker, pod } = claim;
  // The logs first: of a pod whose directory bears the mark nobody asks again whose logs these are.
  await adoptLogs(claim);
  await writeMark(layout.podDir(pod.uid), { maker, pod });
}

/** A folder that is there already is used, and stays whose it is. */
async function makeLogs({ layout, maker, pod }: Claim): Promise<void> {
  const logs = layout.podLogDir(pod);
  const found = standingOf(logs, maker);
  if (found.kind === 'unusable') throw unusable(logs, found.why);
  if (found.kind !== 'missing') return;
  await mkdir(path.dirname(logs), { recursive: true, mode: READABLE });
  await makeMarked(logs, { maker, pod }, READABLE);
}

async function adoptLogs(claim: Claim): Promise<void> {
  const { layout, maker, pod } = claim;
  const logs = layout.podLogDir(pod);
  const { kind } = standingOf(logs, maker);
  if (kind === 'unmarked' || kind === 'others') await writeMark(logs, { maker, pod });
  else await makeLogs(claim);
}

function unusable(directory: string, why: string): NodeFailure {
  return new NodeFailure('FailedValidation', `${directory} cannot hold what is a pod's: ${why}`);
}
