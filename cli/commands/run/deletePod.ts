/** `statelet delete`: deletes nothing, but prints how to delete the pod. */

import { NodeFailure } from '../../../base/failure.ts';
import { isStaticPod, sourceOf } from '../../../kubernetes/api/pods/staticPod.ts';
import { connectAgent } from '../../connectAgent.ts';
import { parsePodName } from '../get/explain.ts';
import { readNode, readPodPaths } from '../get/readPods.ts';
import { fetchPod } from '../stream/fetchPod.ts';

export interface DeleteOptions {
  readonly namespace?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Throws a `NodeFailure` that names the manifest to remove. */
export async function deletePod(args: readonly string[], options: DeleteOptions): Promise<never> {
  const name = parsePodName(args);
  const agent = await connectAgent(options);
  const { metadata } = await fetchPod(agent, name, options.namespace);
  const { pod, manifest } = readPodPaths(await agent.json(`/places/uids/${encodeURIComponent(metadata.uid)}`));
  const podText = `pod/${metadata.name}`;
  if (!isStaticPod(pod))
    throw new NodeFailure('MethodNotAllowed', `${podText} is not a static pod: delete it at its API server`);
  if (manifest === undefined)
    throw new NodeFailure(
      'MethodNotAllowed',
      `${podText} is a static pod whose manifest was removed: it is terminating`,
    );
  if (sourceOf(pod) === 'http') {
    const why = `${podText} is a static pod: remove it from the response of ${manifest} to terminate it`;
    throw new NodeFailure('MethodNotAllowed', why);
  }
  const { problems } = readNode(await agent.json('/node'));
  // A second manifest with the same UID is rejected only while the first one exists, so both must be removed.
  const otherManifests = problems.filter(
    (each) => each.path === 'metadata.uid' && each.pod === `${metadata.namespace}/${metadata.name}`,
  );
  const otherFilesText = otherManifests.map(({ file }) => ` and ${file}, which has a pod of the same UID,`).join('');
  throw new NodeFailure(
    'MethodNotAllowed',
    `${podText} is a static pod: remove ${manifest}${otherFilesText} to terminate it`,
  );
}
