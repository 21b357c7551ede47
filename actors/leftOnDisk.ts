import { readdir } from 'node:fs/promises';
import type { PodIdentity } from '../machines/nodeContext.ts';
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
  const uids = new Set([...directories, ...durable.allocations.keys(), ...durable.statuses.keys()]);
  if (uids.size === 0) return [];
  const logs = await readdir(folders.podLogsDir).catch(() => []);
  const named = new Map(logs.map((folder) => identityOf(folder)).map((pod) => [pod.uid, pod]));
  return [...uids].map((uid) => named.get(uid) ?? { uid, namespace: 'unknown', name: uid });
}

/** Log folders are named `<namespace>_<name>_<uid>` (C23); no part has an underscore. */
function identityOf(folder: string): PodIdentity {
  const [namespace = '', name = '', uid = ''] = folder.split('_');
  return { namespace, name, uid };
}
