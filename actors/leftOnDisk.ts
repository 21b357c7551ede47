import { readdir } from 'node:fs/promises';
import type { PodIdentity } from '../pod/observed.ts';
import { createLayout } from '../volume/layout.ts';
import { podDirectories } from '../volume/orphans.ts';
import type { DurableFacts } from './durableFacts.ts';

/** The node's folders, both absolute. */
interface Folders {
  readonly rootDir: string;
  readonly podLogsDir: string;
}

/**
 * The pods of which a former run left a directory or a durable fact. The folder of logs is not only ours: it gives their
 * names and nothing more, and a pod without logs goes by its uid.
 */
export async function podsLeftOnDisk(folders: Folders, durable: DurableFacts): Promise<readonly PodIdentity[]> {
  const directories = await podDirectories(createLayout(folders));
  return identitiesOf([...directories, ...durable.allocations.keys(), ...durable.statuses.keys()], folders.podLogsDir);
}

/** Who these pods are, as far as the names of their log folders tell. */
export async function identitiesOf(uids: readonly string[], podLogsDir: string): Promise<readonly PodIdentity[]> {
  if (uids.length === 0) return [];
  const logs = await readdir(podLogsDir).catch(() => []);
  const named = new Map(logs.map((folder) => identityOf(folder)).map((pod) => [pod.uid, pod]));
  return [...new Set(uids)].map((uid) => named.get(uid) ?? { uid, namespace: 'unknown', name: uid });
}

/** Log folders are named `<namespace>_<name>_<uid>` (C23); no part has an underscore. */
function identityOf(folder: string): PodIdentity {
  const [namespace = '', name = '', uid = ''] = folder.split('_');
  return { namespace, name, uid };
}
