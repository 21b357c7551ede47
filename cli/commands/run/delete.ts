/** `statelet delete`: it ends no pod, and says what does. */

import { NodeFailure } from '../../../base/failure.ts';
import { isStaticPod, sourceOf } from '../../../kubernetes/api/staticPod.ts';
import { agentNamed } from '../../agent.ts';
import { podNameOf } from '../get/explain.ts';
import { readNode, readPlaces } from '../get/readPods.ts';
import { askForPod } from '../stream/askPod.ts';

export interface DeleteOptions {
  readonly namespace?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Throws a `NodeFailure` that says where the pod's manifest is to be removed. */
export async function deletePod(words: readonly string[], options: DeleteOptions): Promise<never> {
  const name = podNameOf(words);
  const agent = await agentNamed(options);
  const { metadata } = await askForPod(agent, name, options.namespace);
  const { pod, manifest } = readPlaces(await agent.json(`/places/uids/${encodeURIComponent(metadata.uid)}`));
  const shown = `pod/${metadata.name}`;
  if (!isStaticPod(pod))
    throw new NodeFailure('MethodNotAllowed', `${shown} is not a static pod: delete it at its API server`);
  if (manifest === undefined)
    throw new NodeFailure(
      'MethodNotAllowed',
      `${shown} is a static pod without a manifest any more: it is being ended`,
    );
  if (sourceOf(pod) === 'http') {
    const why = `${shown} is a static pod: remove it from what ${manifest} responds with to end it`;
    throw new NodeFailure('MethodNotAllowed', why);
  }
  const { problems } = readNode(await agent.json('/node'));
  // Another file with this very UID is refused as long as this one is there.
  const others = problems.filter(
    (each) => each.path === 'metadata.uid' && each.pod === `${metadata.namespace}/${metadata.name}`,
  );
  const too = others.map(({ file }) => ` and ${file}, which has a pod of the same UID,`).join('');
  throw new NodeFailure('MethodNotAllowed', `${shown} is a static pod: remove ${manifest}${too} to end it`);
}
