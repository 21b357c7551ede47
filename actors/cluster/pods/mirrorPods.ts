/** Implements the ports that create and remove mirror pods on the API server. */
import type { KubeClient } from '../../../kubeclient/client.ts';
import { isConflict, isNotFound } from '../../../kubeclient/kubeError.ts';
import { podPath, podsPath } from '../../../kubeclient/paths.ts';
import { mirrorPod } from '../../../kubernetes/mirror.ts';
import type { PortServices } from '../../boundary.ts';

export type MirrorPort = 'createMirror' | 'removeMirror';
type MirrorPorts = Pick<PortServices, MirrorPort>;

export const mirrorPorts = (client: Pick<KubeClient, 'create' | 'delete'>, nodeName: string): MirrorPorts => ({
  createMirror: async ({ pod, nodeUid }, options) => {
    await client.create(podsPath(pod.metadata), mirrorPod(pod, { name: nodeName, uid: nodeUid }), options);
    return null;
  },
  removeMirror: async ({ uid, ...name }, options) => {
    try {
      await client.delete(podPath(name), { gracePeriodSeconds: 0, preconditions: { uid } }, options);
    } catch (error) {
      // Ignore these errors, because the watch will report that the pod is gone or has been replaced.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    return null;
  },
});
