/** A node that has no certificate yet, like the kubelet with a bootstrap kubeconfig. */
import { join } from 'node:path';
import type { ClusterParts } from '../../../../actors/node/nodeParts.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import type { KubeTransport } from '../../../../kubeclient/transport.ts';
import { type Cluster, MemoryTransport } from '../../../fakes/cluster.ts';

const BOOTSTRAPPER = {
  name: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token'],
};

interface Surroundings {
  readonly clock: Clock;
  readonly directory: string;
  readonly note: (transport: KubeTransport) => KubeTransport;
}

/**
 * Returns the parts of a node that sends no request under its own name until it has a client certificate. Both its
 * certificates are rotated.
 */
export function withoutCertificate(
  { api, transport }: Cluster,
  { clock, directory, note }: Surroundings,
): { readonly transport: KubeTransport } & Required<Pick<ClusterParts, 'certificates'>> {
  const [own, first] = [note(transport), note(new MemoryTransport(api, BOOTSTRAPPER))];
  const known = { has: false };
  return {
    transport: {
      close: () => own.close(),
      reset: () => own.reset(),
      send: async (...call) => {
        if (!known.has) throw new Error('the node has no client certificate yet');
        return own.send(...call);
      },
    },
    certificates: {
      certificates: [
        { name: 'client', rotates: true },
        { name: 'serving', rotates: true },
      ],
      directory: join(directory, 'pki'),
      bootstrapClient: new KubeClient({ transport: first, clock, userAgent: 'statelet/test' }),
      onRenewed: (name) => {
        if (name === 'client') known.has = true;
      },
    },
  };
}
