/**
 * Compares the public types with those of `@kubernetes/client-node`. The compiler does the comparison, so a field of a
 * different type or name fails the static checks.
 */

import { expect, test } from '@jest/globals';
import type { V1Node, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { type ApiPod, readApiPod } from '../../../kubernetes/api/pods/apiPod.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';

/** An object of the client as it is sent, in which a `Date` is a timestamp. */
type Sent<Value, Timestamp = string> = Value extends Date
  ? Timestamp
  : Value extends readonly (infer Item)[]
    ? readonly Sent<Item, Timestamp>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Sent<Value[Key], Timestamp> }
      : Value;

/** The client has a plain string in place of a closed set of strings, and requires no field that this node requires. */
type Loose<Value> = Value extends string
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Loose<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]?: Loose<Value[Key]> }
      : Value;

/** The node also sends null, which is Go's zero time. */
type SentTime = string | null;

/** The status patch adds the deprecated field that the client requires. */
const nodeInfoOf = ({ status }: Pick<NodeObject, 'status'>) => ({ kubeProxyVersion: '', ...status.nodeInfo });

/** The client requires the secret of a ScaleIO volume, although it is a pointer in Go. */
const volumeOf = ({ scaleIO, ...volume }: Volume) => ({
  ...volume,
  ...(scaleIO === undefined ? {} : { scaleIO: { secretRef: {}, ...scaleIO } }),
});

const toClient = {
  pod: ({ spec: { volumes = [], ...spec }, ...pod }: Pod): Sent<V1Pod, SentTime> => ({
    ...pod,
    spec: { ...spec, volumes: volumes.map(volumeOf) },
  }),
  podStatus: (status: PodStatus): Sent<V1PodStatus, SentTime> => status,
  node: ({ spec: _, ...node }: NodeObject): Sent<Omit<V1Node, 'spec'>, SentTime> => ({
    ...node,
    status: { ...node.status, nodeInfo: nodeInfoOf(node) },
  }),
};

const fromClient = {
  pod: (pod: Sent<V1Pod>): Loose<Pod> => pod,
  podStatus: (status: Sent<V1PodStatus>): Loose<PodStatus> => status,
  node: (node: Sent<V1Node>): Loose<NodeObject> => node,
};

test('a pod of the client is a pod of this node once it is read', () => {
  const pod: Sent<V1Pod> = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-1' },
    spec: { containers: [{ name: 'main', image: 'busybox:1' }] },
    status: { phase: 'Running' },
  };
  const read: ApiPod = readApiPod(fromClient.pod(pod), 0);
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  expect(toClient.pod(read.pod)).toMatchObject(pod);
});
