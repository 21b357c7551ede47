/**
 * Caches the cluster's Services as last reported by the watch. Their addresses become environment variables of
 * containers.
 */
import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';
import { SERVICE_TYPE, SERVICES_PATH } from '../../kubeclient/paths.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type ServiceAddress, serviceVariables } from '../../kubernetes/environment/serviceVariables.ts';
import { API_SOURCE } from './pods/apiPods.ts';
import type { ClusterWatch } from './runWatch.ts';

const SOURCE_ANNOTATION = 'kubernetes.io/config.source';

/** Returns the environment variables with the addresses of Services for the containers of a pod. */
export type ServiceVariables = (pod: Pod) => Readonly<Record<string, string>>;

export const noServices: ServiceVariables = () => ({});

export class ClusterServices {
  #addresses: readonly ServiceAddress[] | undefined;

  replaceAll(services: readonly ServiceAddress[]): void {
    this.#addresses = services;
  }

  /**
   * Throws for a pod from the API server until the Services have been listed. A static pod starts without the
   * variables, because the API server may run in it.
   */
  readonly serviceVariables: ServiceVariables = ({ metadata: { namespace, annotations }, spec }) => {
    if (this.#addresses === undefined && annotations?.[SOURCE_ANNOTATION] === API_SOURCE) {
      const message = 'services have not yet been read at least once, cannot construct envvars';
      throw new NodeFailure('CreateContainerConfigError', message);
    }
    return serviceVariables(this.#addresses ?? [], { namespace, enableServiceLinks: spec.enableServiceLinks ?? true });
  };
}

/** The cached part of a Service. The rest is dropped, because a cluster may have thousands of Services. */
const serviceSchema = z.pipe(
  z.object({
    metadata: z.object({ namespace: z.string(), name: z.string() }),
    spec: z.object({
      clusterIP: z._default(z.string(), ''),
      ports: z.optional(
        z.nullable(
          z.array(
            z.object({ name: z.exactOptional(z.string()), port: z.number(), protocol: z._default(z.string(), 'TCP') }),
          ),
        ),
      ),
    }),
  }),
  z.transform(
    ({ metadata, spec: { clusterIP: clusterIp, ports } }): ServiceAddress => ({
      ...metadata,
      clusterIp,
      ports: ports ?? [],
    }),
  ),
);

export const servicesWatch = (services: Pick<ClusterServices, 'replaceAll'>): ClusterWatch<ServiceAddress> => ({
  name: 'Service',
  sourceName: 'the services of the cluster',
  path: SERVICES_PATH,
  type: SERVICE_TYPE,
  query: { fieldSelector: 'spec.clusterIP!=None' },
  transform: (object) => z.parse(serviceSchema, object),
  onSet: (addresses) => services.replaceAll(addresses),
});
